/** The texts are loaded before any module that imports `t` runs, so a change of language needs a reload. */

import { createInstance } from 'i18next'
import { english } from './english.ts'
import { readLocal, writeLocal } from './local-storage.ts'

type Catalogue = typeof english

declare module 'i18next' {
  interface CustomTypeOptions {
    resources: { translation: Catalogue }
    nsSeparator: false
  }
}

interface LanguageChoice {
  readonly language: string
  /** BCP 47 tag with the region, which determines the format of dates and numbers. */
  readonly locale: string
}

/** Catalogues other than English are loaded on demand. */
const loaders = import.meta.glob<Catalogue>(['../languages/*.json', '!../languages/en.json'], { import: 'default' })

const storageKey = 'micwatch.language'

export const languages: readonly string[] = ['en', ...Object.keys(loaders).map(languageOf)]

export const chosenLanguage = languages.find((language) => language === readLocal(storageKey)) ?? null

const choice = chooseLanguage(preferredLocales(chosenLanguage, globalThis.navigator?.languages ?? []), languages)
const translated = await loaders[`../languages/${choice.language}.json`]?.().catch(() => null)

/** English if the catalogue could not be loaded. */
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

/** A speaker of the language with experience in the trade has read and confirmed these texts. */
const confirmedLanguages: readonly string[] = ['en']

/** No speaker of the language has confirmed the texts. */
export const isUnconfirmed = Boolean(translated) && !confirmedLanguages.includes(choice.language)

/** Takes effect after a reload. Null follows the preferences of the browser. */
export function rememberLanguage(language: string | null): void {
  writeLocal(storageKey, language ?? '')
}

if (globalThis.document !== undefined) document.documentElement.lang = locale

/** The first preferred locale that has a catalogue, otherwise English. The catalogue `pt` also serves `pt-BR`. */
export function chooseLanguage(preferred: readonly string[], available: readonly string[]): LanguageChoice {
  for (const locale of preferred) {
    const parts = locale.toLowerCase().split('-')
    const candidates = parts.map((_, index) => parts.slice(0, parts.length - index).join('-'))
    const language = candidates.find((candidate) => available.includes(candidate))
    if (language !== undefined) return { language, locale }
  }
  return { language: 'en', locale: 'en' }
}

/** The chosen language first, in the region that the browser prefers for it. */
export function preferredLocales(chosen: string | null, preferred: readonly string[]): readonly string[] {
  if (chosen === null) return preferred
  const ofLanguage = preferred.filter((locale) => `${locale.toLowerCase()}-`.startsWith(`${chosen}-`))
  return [...ofLanguage, chosen, ...preferred]
}

function languageOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1, -'.json'.length)
}
