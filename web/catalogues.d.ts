/** Provided by the Vite plugin in `scripts/catalogues.ts`. */
declare module 'virtual:catalogues' {
  type Texts = Readonly<Record<string, unknown>>

  interface Catalogue {
    /** The texts that are needed at the start. */
    readonly default: Texts
    readonly sections: Readonly<Record<string, () => Promise<{ readonly default: Texts }>>>
  }

  export const english: Catalogue
  /** Of the other languages. */
  export const loaders: Readonly<Record<string, () => Promise<Catalogue>>>
}
