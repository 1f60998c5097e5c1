/** Provided by the Vite plugin in `scripts/catalogues.ts`. */
declare module 'virtual:catalogues' {
  type Texts = Readonly<Record<string, unknown>>
  type Loader = () => Promise<{ readonly default: Texts }>

  export const english: Texts
  export const loaders: Readonly<Record<string, Readonly<Record<string, Loader>>>>
}
