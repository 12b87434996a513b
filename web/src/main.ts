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
import './shortcuts';
import './measured';
import {offerEarlier} from './keeping';
import {openFromAddress} from './opening';
import {showError} from './messages';
import {client, session} from './state';

(async () => {
  try {
    session.options = await client.options();
    session.templates = await client.templates();
    session.groups = new Map(session.options.map((o) => [o.name, o.group]));
    await offerEarlier().catch(console.warn);
    document.documentElement.dataset.ready = 'yes';
    // The page works offline once all of it is loaded; not that of `sinew studio`, whose address differs at each start.
    if (import.meta.env.PROD && 'serviceWorker' in navigator && !/^\/[0-9a-f]{32}\//.test(location.pathname))
      void navigator.serviceWorker.register('./sw.js').catch(console.warn);
    await openFromAddress();
  } catch (error) {
    showError(error);
  }
})();
