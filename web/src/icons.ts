// Icons beside words, as strokes in a square of 16.
import {el, type VNode} from './dom';

const BRUSH = 'M13.500 2.500L7 9M7.500 9.500c.5 2-1 4-5 3.800 1.500-1 .8-2.500 1.800-3.700 1-1 2.500-.8 3.200-.1z';
const PATHS = {
  bind: 'M6.5 9.5l3-3M7.5 4.5l1.4-1.4a2.8 2.8 0 014 4L11.5 8.5M8.5 11.5l-1.4 1.4a2.8 2.8 0 01-4-4L4.500 7.5',
  finish: 'M2.500 8.500l3.500 3.500L13.500 4.500',
  paint: BRUSH,
  pose: 'M8 4.200a1.500 1.500 0 100-3 1.500 1.500 0 000 3zM8 4.500v5M3 5.500l5 1 4.500-3M8 9.500l-3 5M8 9.500l3.500 4.500',
  export: 'M8 2v8M4.800 7L8 10.200 11.200 7M2.500 13.500h11',
  play: 'M5 3.500v9l7.500-4.500z',
  stop: 'M5 4h2v8H5zM9.500 4h2v8h-2z',
  eye: 'M1.500 8S4 3.800 8 3.800 14.500 8 14.500 8 12 12.200 8 12.200 1.500 8 1.500 8zM8 10a2 2 0 100-4 2 2 0 000 4z',
  lock: 'M4 7.500h8v6H4zM5.500 7.500V5.200a2.500 2.500 0 015 0v2.300',
  opened: 'M4 6l4 4 4-4',
  closed: 'M6 4l4 4-4 4',
  twin: 'M8 2v12M6 5L2.500 8 6 11M10 5l3.500 3-3.500 3',
  skeleton: 'M4.600 11.400l6.800-6.800M3.500 14a1.500 1.500 0 100-3 1.500 1.500 0 000 3zM12.500 5a1.500 1.500 0 100-3 1.500 1.500 0 000 3z',
  beside: 'M2 3h5v10H2zM9 3h5v10H9z',
  wire: 'M8 2l6 11H2zM5 7.500h6L8 13z',
  frame: 'M2 5V2h3M11 2h3v3M14 11v3h-3M5 14H2v-3',
  time: 'M2 12.500h12M4 12.500v-4M8 12.500v-8M12 12.500v-4',
  look: 'M8 14A6 6 0 108 2a6 6 0 000 12zM5 7.500A3 3 0 017.500 5',
  joints: 'M5 7.500a3 3 0 100-6 3 3 0 000 6zM11.500 9a2 2 0 100-4 2 2 0 000 4zM7 14.500a2.500 2.500 0 100-5 2.500 2.500 0 000 5z',
  weight: 'M8 14A6 6 0 108 2a6 6 0 000 12zM8 2v12M8 5h4.500M8 8h6M8 11h4.500',
  distance: 'M2 8h12M2 5v6M14 5v6M6 6.500v3M10 6.500v3',
  coverage: 'M8 14A6 6 0 108 2a6 6 0 000 12zM6.300 6.500a1.700 1.700 0 113 1.200C8.600 8.300 8 8.500 8 9.500M8 11.400v.2',
  difference: 'M3 6h10M3 10h10M11 3L5 13',
  marks: BRUSH,
  voxels: 'M8 2l5 3v6l-5 3-5-3V5zM3 5l5 3 5-3M8 8v6',
  defects: 'M8 2.500L14 13H2zM8 6.500v3M8 11.300v.2',
} as const;
export type Icon = keyof typeof PATHS;

export const icon = (name: Icon): VNode =>
  el('svg', {class: 'icon', viewBox: '0 0 16 16', 'aria-hidden': 'true'}, el('path', {d: PATHS[name]}));
