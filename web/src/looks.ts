// Materials and textures of the file, as the view draws them.
import * as THREE from 'three';
import type {Core, Material} from 'sinew-skin';

/** Offset in depth steps, to draw behind other surfaces at the same position. */
export const behind = (steps: number) => ({polygonOffset: true, polygonOffsetFactor: steps, polygonOffsetUnits: steps});

export function texturesOf(opened: Pick<ReturnType<Core['open']>, 'images' | 'info'>): Promise<(THREE.Texture | null)[]> {
  return Promise.all(
    opened.images.map(async (bytes, i) => {
      const {mime} = opened.info.images[i];
      if (!['image/png', 'image/jpeg', 'image/webp'].includes(mime)) return null;
      try {
        const picture = await createImageBitmap(new Blob([bytes as BlobPart], {type: mime}));
        const texture = new THREE.Texture(picture);
        texture.flipY = false;
        texture.colorSpace = THREE.SRGBColorSpace;
        texture.needsUpdate = true;
        return texture;
      } catch {
        return null;  // a damaged picture: the surface has its plain colour
      }
    }),
  );
}

export function lookOf(m: Material | undefined, textures: (THREE.Texture | null)[]): THREE.Material {
  const material = new THREE.MeshLambertMaterial({side: THREE.DoubleSide, color: 0xb8bcc6});
  if (!m) return material;
  material.color.setRGB(m.colour[0], m.colour[1], m.colour[2]);
  const shared = m.image >= 0 ? textures[m.image] : null;
  if (shared) {
    const map = (material.map = shared.clone());
    map.wrapS = map.wrapT = m.repeats ? THREE.RepeatWrapping : THREE.ClampToEdgeWrapping;
    map.offset.set(...m.offset);
    map.repeat.set(...m.scale);
    map.rotation = -m.rotation;
    map.needsUpdate = true;
  }
  material.side = m.double_sided ? THREE.DoubleSide : THREE.FrontSide;
  material.alphaTest = m.cutoff;
  material.transparent = m.blends;
  material.opacity = m.blends ? m.colour[3] : 1;
  return material;
}

