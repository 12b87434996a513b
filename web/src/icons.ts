// Icons beside words, as strokes in a square of 16.
import {el, type VNode} from './dom';

const PATHS = {
  bind: 'M6.5 9.5l3-3M7.5 4.5l1.4-1.4a2.8 2.8 0 014 4L11.5 8.5M8.5 11.5l-1.4 1.4a2.8 2.8 0 01-4-4L4.500 7.5',
  finish: 'M2.500 8.500l3.500 3.500L13.500 4.500',
  paint: 'M13.500 2.500L7 9M7.500 9.500c.5 2-1 4-5 3.800 1.500-1 .8-2.500 1.800-3.700 1-1 2.500-.8 3.200-.1z',
  pose: 'M8 4.200a1.500 1.500 0 100-3 1.500 1.500 0 000 3zM8 4.500v5M3 5.500l5 1 4.500-3M8 9.500l-3 5M8 9.500l3.500 4.500',
  export: 'M8 2v8M4.800 7L8 10.200 11.200 7M2.500 13.500h11',
  play: 'M5 3.500v9l7.500-4.500z',
  stop: 'M5 4h2v8H5zM9.500 4h2v8h-2z',
  eye: 'M1.500 8S4 3.800 8 3.800 14.500 8 14.500 8 12 12.200 8 12.200 1.500 8 1.500 8zM8 10a2 2 0 100-4 2 2 0 000 4z',
  lock: 'M4 7.500h8v6H4zM5.500 7.500V5.200a2.500 2.500 0 015 0v2.300',
  opened: 'M4 6l4 4 4-4',
  closed: 'M6 4l4 4-4 4',
  twin: 'M8 2v12M6 5L2.500 8 6 11M10 5l3.500 3-3.500 3',
} as const;
export type Icon = keyof typeof PATHS;

export const icon = (name: Icon): VNode =>
  el('svg', {class: 'icon', viewBox: '0 0 16 16', 'aria-hidden': 'true'}, el('path', {d: PATHS[name]}));
