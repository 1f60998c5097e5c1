/** The texts of the pages, in the browser's language. They are loaded before any module that imports `t` runs. */

import { createInstance } from 'i18next'
import english from './languages/en.json' with { type: 'json' }

type Catalogue = typeof english

declare module 'i18next' {
  interface CustomTypeOptions {
    resources: { translation: Catalogue }
    nsSeparator: false
  }
}

interface LanguageChoice {
  /** File name in `languages/`, without the extension. */
  readonly language: string
  /** BCP 47 tag from the browser, with the region, which determines the format of dates and numbers. */
  readonly locale: string
}

/** Catalogues other than English are loaded on demand. */
const loaders = import.meta.glob<Catalogue>(['./languages/*.json', '!./languages/en.json'], { import: 'default' })

const choice = chooseLanguage(globalThis.navigator?.languages ?? [], ['en', ...Object.keys(loaders).map(languageOf)])
const translated = await loaders[`./languages/${choice.language}.json`]?.().catch(() => null)

/** The locale for dates, numbers and `<html lang>`; English if the catalogue could not be loaded. */
export const locale = translated || choice.language === 'en' ? choice.locale : 'en'

const i18n = createInstance()
void i18n.init({
  lng: translated ? choice.language : 'en',
  fallbackLng: 'en',
  lowerCaseLng: true,
  resources: { en: { translation: english }, ...(translated && { [choice.language]: { translation: translated } }) },
  initAsync: false,
  nsSeparator: false,
  // React escapes HTML.
  interpolation: { escapeValue: false },
})

export const { t } = i18n

if (globalThis.document !== undefined) document.documentElement.lang = locale

/**
 * Returns the first preferred locale that has a catalogue, otherwise English. The catalogue `pt` is also used for
 * `pt-BR`.
 */
export function chooseLanguage(preferred: readonly string[], available: readonly string[]): LanguageChoice {
  for (const locale of preferred) {
    const parts = locale.toLowerCase().split('-')
    const candidates = parts.map((_, index) => parts.slice(0, parts.length - index).join('-'))
    const language = candidates.find((candidate) => available.includes(candidate))
    if (language !== undefined) return { language, locale }
  }
  return { language: 'en', locale: 'en' }
}

function languageOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1, -'.json'.length)
}
