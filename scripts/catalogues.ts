/** The Vite plugin that divides the catalogues of the pages, so that a page loads only texts that it can show. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'vite'
import { english } from '../web/app/english.ts'
import { pageSections } from '../web/app/page-sections.ts'

type Texts = Readonly<Record<string, unknown>>

const index = 'virtual:catalogues'
const prefix = 'virtual:catalogue/'

/**
 * Provides `virtual:catalogues`, with English and the loaders of all other languages. Each has the texts that are needed at
 * the start, and loaders for the page sections. If `isDivided` is false, all texts are loaded at the start.
 */
export function catalogues({ folder, isDivided }: { folder: string; isDivided: boolean }): Plugin {
  const languages = readdirSync(folder).map((name) => name.replace('.json', ''))
  const sections = isDivided ? pageSections : []
  return {
    name: 'catalogues',
    resolveId: (id) => (id === index || id.startsWith(prefix) ? `\0${id}` : undefined),
    load(resolved) {
      const id = resolved.slice(1)
      if (id === index) return writeIndex(languages)
      if (!id.startsWith(prefix)) return undefined
      const [language = '', part = ''] = id.slice(prefix.length).split(':')
      const texts = language === 'en' ? english : JSON.parse(readFileSync(join(folder, `${language}.json`), 'utf8'))
      const module = `export default ${JSON.stringify(partOf(texts, part, sections))}`
      if (part !== 'app') return module
      return `${module}\nexport const sections = { ${sections.map((name) => writeLoader(name, `${language}:${name}`))} }`
    },
  }
}

function writeIndex(languages: readonly string[]): string {
  const others = languages.filter((language) => language !== 'en')
  const loaders = others.map((language) => writeLoader(language, `${language}:app`))
  return `export * as english from '${prefix}en:app'\nexport const loaders = { ${loaders} }`
}

function writeLoader(name: string, module: string): string {
  return `'${name}': () => import('${prefix}${module}')`
}

function partOf(texts: Texts, part: string, sections: readonly string[]): Texts {
  if (part !== 'app') return { [part]: texts[part] }
  return Object.fromEntries(Object.entries(texts).filter(([section]) => !sections.includes(section)))
}
