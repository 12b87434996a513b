declare module '*/core.mjs' {
  const create: (options: {locateFile?: (file: string) => string; mainScriptUrlOrBlob?: string; wasmBinary?: ArrayBuffer; meshopt?: object}) =>
    Promise<import('./core').CoreModule>;
  export default create;
}
// Google's decoder, part of three.js (Apache-2.0).
declare module '*/draco_wasm_wrapper.js' {
  const create: (options: {wasmBinary: ArrayBuffer}) => Promise<object>;
  export default create;
}
declare module '*/draco.mjs' {
  export const decoder: () => Promise<object>;
  export const compressed: (glb: Uint8Array) => Promise<Uint8Array>;
}
