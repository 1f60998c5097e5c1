/** Every word the pages say, in the language of whoever looks at them. Settled before any module reads one. */

import { language as english, type Language } from './languages/en.ts'

interface Choice {
  /** A file's name in `languages/`. */
  readonly name: string
  /** As the browser calls it, with the country whose dates are meant. */
  readonly locale: string
}

/** By file. Fetched when they are wanted; English is there at once, and also when another one does not come. */
const others = import.meta.glob<Language>(['./languages/*.ts', '!./languages/en.ts'], { import: 'language' })

const choice = chooseLanguage(globalThis.navigator?.languages ?? [], ['en', ...Object.keys(others).map(nameOf)])
const fetched = await others[`./languages/${choice.name}.ts`]?.().catch(() => null)

export const words: Language = fetched ?? english
/** Of the words, for `lang` and for dates. */
export const locale = fetched || choice.name === 'en' ? choice.locale : 'en'

/** The first wanted one that is there, `pt` for `pt-BR` too; English where none is. */
export function chooseLanguage(wanted: readonly string[], there: readonly string[]): Choice {
  for (const locale of wanted) {
    const parts = locale.toLowerCase().split('-')
    const names = parts.map((_, at) => parts.slice(0, parts.length - at).join('-'))
    const name = names.find((one) => there.includes(one))
    if (name !== undefined) return { name, locale }
  }
  return { name: 'en', locale: 'en' }
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1, -'.ts'.length)
}
