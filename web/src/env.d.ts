declare module '*/draco.mjs' {
  export const decoder: () => Promise<object>;
  export const compressed: (glb: Uint8Array) => Promise<Uint8Array>;
}
