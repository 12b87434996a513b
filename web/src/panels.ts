// The width of the panels: dragged, or moved by arrows; the browser remembers it.
const LEAST = 200, MOST = 0.4;  // pixels; of the window

for (const splitter of document.querySelectorAll<HTMLElement>('.splitter')) {
  const side = splitter.dataset.side as 'left' | 'right';
  const key = `sinew ${side}`;
  const main = splitter.parentElement!;
  const set = (width: number) => {
    const within = Math.round(Math.min(Math.max(width, LEAST), MOST * innerWidth));
    main.style.setProperty(`--${side}`, `${within}px`);
    splitter.ariaValueNow = String(within);
    try {
      localStorage.setItem(key, String(within));
    } catch {
      // It holds until the page is closed.
    }
  };
  try {
    const kept = Number(localStorage.getItem(key));
    if (kept) set(kept);
  } catch {
    // The usual width.
  }
  const now = () => document.getElementById(side)!.offsetWidth;
  Object.assign(splitter, {ariaValueMin: String(LEAST), ariaValueMax: String(Math.round(MOST * innerWidth)), ariaValueNow: splitter.ariaValueNow ?? String(now())});
  splitter.addEventListener('pointerdown', (event) => splitter.setPointerCapture(event.pointerId));
  splitter.addEventListener('pointermove', (event) => {
    if (splitter.hasPointerCapture(event.pointerId)) set(side === 'left' ? event.clientX : innerWidth - event.clientX);
  });
  splitter.addEventListener('keydown', ({key: pressed}) => {
    const by = {ArrowLeft: -16, ArrowRight: 16}[pressed];
    if (by) set(now() + (side === 'left' ? by : -by));
  });
}
