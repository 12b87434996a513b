// The page: imports its modules, in the order in which they redraw.
import './surface';
import './toolbar';
import './axes';
import './character';
import './drawing';
import './binding';
import './posing';
import './timeline';
import './brush';
import './sweep';
import './finish';
import './comparing';
import './changes';
import './exporting';
import './tabs';
import './panels';
import './pointer';
import './cross';
import './keys';
import {isKept, offerEarlier} from './keeping';
import {openFromAddress} from './opening';
import type {Core} from 'sinew-skin';
import {showError} from './messages';
import {client, history, session, view} from './state';
import {isWorking} from './work';
import {poseNumbers} from './store';
import {wrongColours} from './surface';
import {poseAt} from './track';

// The page works offline once it is loaded; not that of `sinew studio`, whose address differs at each start.
if (import.meta.env.PROD && 'serviceWorker' in navigator && !/^\/[0-9a-f]{32}\//.test(location.pathname))
  void navigator.serviceWorker.register('./sw.js').catch(console.warn);

(async () => {
  try {
    session.options = await client.options();
    session.templates = await client.templates();
    session.groups = new Map(session.options.map((o) => [o.name, o.group]));
    await offerEarlier().catch(console.warn);
    document.documentElement.dataset.ready = 'yes';
    await openFromAddress();
  } catch (error) {
    showError(error);
  }
})();

// For tests and measurements: the shown state as numbers.
Object.assign(window, {
  studio: {
    state: () => ({
      vertices: session.info?.counts.vertices ?? 0, bound: !!session.bound, stale: session.stale, working: isWorking(),
      mode: session.mode, joint: session.joint, doc: history.doc, seconds: session.bound?.seconds ?? 0, first: session.bound?.first ?? 0,
      refining: session.refining, kept: isKept(), coarse: !!session.bound?.coarse, time: session.time, onTrack: session.onTrack,
      width: session.rows?.width ?? 0, frames: view.frameTimes(), drawn: view.drawn, rough: view.rough, card: view.card, rows: session.rows,
    }),
    core: client as unknown as Core,
    handleAt: () => view.handleAt(),
    placeOf: (joint: number) => view.placeOf(joint),
    filled: () => view.filled(),
    cameraAt: () => view.cameraAt(),
    frame: () => view.frame(),
    change: (part: object) => history.change(part),
    wrongColours: () => wrongColours(),
    pose: (joint: number, turn: [number, number, number, number]) => history.change({pose: {...history.doc.pose, [joint]: turn}}, 'measured'),
    nearer: (factor: number) => view.turnCamera(0, 0, 1 / factor),
    bonesShown: () => view.bonesShown(),
    propsShown: () => view.propsShown(),
    brushAt: () => view.brushAt(),
    strokes: () => ({...session.stroke}),
    border: () => view.borderPlace(),
    coverage: () => view.coverage(),
    colours: () => view.colours,
    hitAt: (x: number, y: number) => view.surfaceAt(x, y),
    pixelOf: (point: [number, number, number]) => view.pixelOf(point),
    joints: () => session.info?.joints ?? [],
    poseAt: (time: number) => poseNumbers(poseAt(history.doc.track, time), session.info?.joints.length ?? 0, session.base),
  },
});
