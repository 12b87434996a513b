// Pins over the view: places that were answered, and the one that is asked about.
import {editOf, reachOf, setReach} from './answers';
import {byId, el, refill} from './dom';
import {asking, nameOf, ownerOf, placeCard, placeOf, type Card} from './questions';
import {history, on, session, view} from './state';
import {colourOf, swatch} from './surface';

let root = 0;  // √area
function rootOfArea(): number {
  const {positions, triangles} = session.opened!;
  let area = 0;
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [0, 1, 2].map((k) => placeOf(triangles[t + k]));
    const u = [0, 1, 2].map((k) => b[k] - a[k]), v = [0, 1, 2].map((k) => c[k] - a[k]);
    area += Math.hypot(u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]) / 2;
  }
  return positions.length ? Math.sqrt(area) : 0;
}

/** Those of the document, and the place that is asked about. */
function pins(): {vertex: number; name: string}[] {
  if (session.step !== 'finish' || !session.rows) return [];
  const answered = history.doc.edits.flatMap((e) => (e.op === 'pin' ? e.pins.flatMap(({vertex}) => vertex ?? []) : []));
  const open = [asking.at, asking.here].flatMap((card) => (card?.kind === 'place' ? [card.vertex] : []));
  const vertices = session.info!.counts.vertices;
  return [...new Set([...answered, ...open])].filter((v) => v < vertices).map((vertex) => ({vertex, name: nameOf(ownerOf(vertex))}));
}
const cardAt = (vertex: number) => [...asking.cards, ...(asking.here ? [asking.here] : [])].find((card) => card.kind === 'place' && card.vertex === vertex);
export function drawPins(choose: (card: Card) => void) {
  refill(byId('pins'), ...pins().map(({vertex, name}, i) => {
    const card = cardAt(vertex) ?? placeCard(vertex, []);
    return el('button', {
      key: vertex, type: 'button', class: editOf(card) ? 'pin' : 'pin asked', 'data-pin': i, 'aria-pressed': card === asking.at || card === asking.here,
      title: `${name}: the wheel changes how far it reaches`, 'aria-label': `Pin: ${name}`,
      onClick: () => choose(cardAt(vertex) ?? (asking.here = placeCard(vertex))), onPointerLeave: () => view.ring.hide(),
      onWheel: (event: WheelEvent) => {
        event.preventDefault();
        const reach = reachOf(card);
        if (reach === undefined) return;
        setReach(card, reach * 1.15 ** -Math.sign(event.deltaY));
        root ||= rootOfArea();
        view.ring.around(vertex, reachOf(card)! * root);
      },
    }, swatch(colourOf(ownerOf(vertex))));
  }));
  placePins();
}
function placePins() {
  const all = pins();
  for (const pin of byId('pins').children as HTMLCollectionOf<HTMLElement>) {
    const {vertex} = all[Number(pin.dataset.pin)] ?? {};
    if (vertex === undefined) continue;
    const {x, y} = view.figure.pixelOfVertex(vertex);
    pin.style.left = `${x}px`;
    pin.style.top = `${y}px`;
  }
}
view.stage.cameraListeners.push(placePins);
on(['character'], () => (root = 0));
