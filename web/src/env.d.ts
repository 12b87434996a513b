declare module '*/core.mjs' {
  const create: (options: {locateFile?: (file: string) => string; mainScriptUrlOrBlob?: string; wasmBinary?: ArrayBuffer; meshopt?: object}) =>
    Promise<import('./core').CoreModule>;
  export default create;
}
