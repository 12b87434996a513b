declare module '*/core.mjs' {
  const create: (options: {locateFile?: () => string; wasmBinary?: ArrayBuffer}) => Promise<import('./core').CoreModule>;
  export default create;
}
