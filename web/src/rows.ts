// Rows of weights, some of which are replaced. No DOM.
import type {Painted, Rows} from 'sinew-skin';

/** The rows with those of the painted vertices; changed in place, unless a painted row is wider. */
export function withRows(rows: Rows, {vertices, rows: painted}: Pick<Painted, 'vertices' | 'rows'>): Rows {
  const out = painted.width > rows.width ? widened(rows, painted.width) : rows;
  const {width, joints, shares} = out;
  vertices.forEach((v, i) => {
    joints.fill(0, v * width, (v + 1) * width);
    shares.fill(0, v * width, (v + 1) * width);
    joints.set(painted.joints.subarray(i * painted.width, (i + 1) * painted.width), v * width);
    shares.set(painted.shares.subarray(i * painted.width, (i + 1) * painted.width), v * width);
  });
  return out;
}

function widened(rows: Rows, width: number): Rows {
  const vertices = rows.shares.length / rows.width;
  const out = {width, joints: new Uint16Array(vertices * width), shares: new Float32Array(vertices * width)};
  for (let v = 0; v < vertices; ++v) {
    out.joints.set(rows.joints.subarray(v * rows.width, (v + 1) * rows.width), v * width);
    out.shares.set(rows.shares.subarray(v * rows.width, (v + 1) * rows.width), v * width);
  }
  return out;
}
