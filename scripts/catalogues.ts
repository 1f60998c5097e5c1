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
 * Provides `virtual:catalogues`, with the English texts of the frame and the live pages and the loaders of all other
 * parts: `app`, and one for each page section. If `isDivided` is false, it provides all English texts.
 */
export function catalogues({ folder, isDivided }: { folder: string; isDivided: boolean }): Plugin {
  const languages = readdirSync(folder).map((name) => name.replace('.json', ''))
  const sections = isDivided ? pageSections : []
  return {
    name: 'catalogues',
    resolveId: (id) => (id === index || id.startsWith(prefix) ? `\0${id}` : undefined),
    load(resolved) {
      const id = resolved.slice(1)
      if (id === index) return writeIndex(languages, sections)
      if (!id.startsWith(prefix)) return undefined
      const [language = '', part = ''] = id.slice(prefix.length).split(':')
      const texts = language === 'en' ? english : JSON.parse(readFileSync(join(folder, `${language}.json`), 'utf8'))
      return `export default ${JSON.stringify(partOf(texts, part, sections))}`
    },
  }
}

function writeIndex(languages: readonly string[], sections: readonly string[]): string {
  const loaders = languages.map((language) => {
    const parts = language === 'en' ? sections : ['app', ...sections]
    const imports = parts.map((part) => `${part}: () => import('${prefix}${language}:${part}')`)
    return `'${language}': { ${imports.join(', ')} }`
  })
  return `export { default as english } from '${prefix}en:app'\nexport const loaders = { ${loaders.join(', ')} }`
}

function partOf(texts: Texts, part: string, sections: readonly string[]): Texts {
  if (part !== 'app') return { [part]: texts[part] }
  return Object.fromEntries(Object.entries(texts).filter(([section]) => !sections.includes(section)))
}
