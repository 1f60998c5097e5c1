/** The texts are loaded before any module that uses them runs, so a change of language needs a reload. */

import { type Catalogue, english, loaders, type Texts } from 'virtual:catalogues'
import type { english as englishTexts } from './english.ts'
import { readLocal, writeLocal } from './local-storage.ts'
import type { PageSection } from './page-sections.ts'

type PluralForm = 'zero' | Intl.LDMLPluralRule

/** The paths of all texts, without their plural forms. */
type KeyOf<Branch> = {
  [Name in keyof Branch & string]: Branch[Name] extends string
    ? Name extends `${infer Base}_${PluralForm}`
      ? Base
      : Name
    : `${Name}.${KeyOf<Branch[Name]>}`
}[keyof Branch & string]

export type TextKey = KeyOf<typeof englishTexts>

interface LanguageChoice {
  readonly language: string
  /** BCP 47 tag with the region, which determines the format of dates and numbers. */
  readonly locale: string
}

const storageKey = 'micwatch.language'

export const languages: readonly string[] = ['en', ...Object.keys(loaders)]

export const chosenLanguage = languages.find((language) => language === readLocal(storageKey)) ?? null

const choice = chooseLanguage(preferredLocales(chosenLanguage, globalThis.navigator?.languages ?? []), languages)
const translated = await loaders[choice.language]?.().catch(() => undefined)

/** English if the catalogue could not be loaded. */
const language = translated ? choice.language : 'en'
export const locale = translated || choice.language === 'en' ? choice.locale : 'en'

const catalogue: Record<string, unknown> = { ...english.default, ...translated?.default }
const pluralRules = new Intl.PluralRules(language)

async function loadSection({ sections }: Catalogue, name: PageSection): Promise<Texts | undefined> {
  return (await sections[name]?.())?.default
}

/** Returns a function that loads sections of the catalogue, then the module that uses them. */
export function withTexts<Module>(
  sections: readonly PageSection[],
  load: () => Promise<Module>,
): () => Promise<Module> {
  return async () => {
    const missing = sections.filter((section) => !(section in catalogue))
    const texts = missing.map((name) =>
      loadSection(translated ?? english, name).catch(() => loadSection(english, name)),
    )
    Object.assign(catalogue, ...(await Promise.all(texts)))
    return load()
  }
}

/** Returns the text for a key, with its values inserted. `count` also selects the plural form. */
export function t(key: TextKey, values: Readonly<Record<string, unknown>> = {}): string {
  const text = findText(key, values.count) ?? key
  return text.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => String(values[name] ?? ''))
}

function findText(key: string, count: unknown): string | undefined {
  const path = key.split('.')
  const name = path.pop() ?? ''
  let texts: unknown = catalogue
  for (const part of path) texts = (texts as Texts | undefined)?.[part]
  const forms = typeof count === 'number' ? [count === 0 && 'zero', pluralRules.select(count), 'other'] : []
  const names = [...forms.filter(Boolean).map((form) => `${name}_${form}`), name]
  return names.map((each) => (texts as Texts | undefined)?.[each]).find((text) => typeof text === 'string')
}

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
