/** The Vite plugin that lists the files of each page, so that a browser can request them before the application runs. */

import { basename } from 'node:path'
import type { Plugin } from 'vite'
import { pages } from '../src/domain/pages.ts'

/**
 * Writes `page-files.json`: the name of each page -> the scripts and styles that it needs besides those of the start. The
 * module of a page has the page's name.
 */
export function pageFiles(): Plugin {
  return {
    name: 'page files',
    generateBundle: {
      order: 'post',
      handler(_options, bundle) {
        const chunks = Object.values(bundle).filter((output) => output.type === 'chunk')
        const html = bundle['index.html']
        const isAtStart = (file: string) => html?.type === 'asset' && String(html.source).includes(file)
        const collect = (name: string, found: Set<string>): Set<string> => {
          const output = bundle[name]
          if (output?.type !== 'chunk' || found.has(name)) return found
          found.add(name)
          for (const imported of output.imports) collect(imported, found)
          // After the styles of the imports, which these may override.
          for (const style of output.viteMetadata?.importedCss ?? []) found.add(style)
          return found
        }
        const files = pages.map(({ name }) => {
          const module = `${name.replaceAll('_', '-')}.tsx`
          const chunk = chunks.find(
            ({ facadeModuleId }) => facadeModuleId !== null && basename(facadeModuleId) === module,
          )
          if (chunk === undefined) throw new Error(`The page "${name}" has no module "${module}".`)
          return [name, [...collect(chunk.fileName, new Set())].filter((file) => !isAtStart(file))]
        })
        this.emitFile({
          type: 'asset',
          fileName: 'page-files.json',
          source: JSON.stringify(Object.fromEntries(files)),
        })
      },
    },
  }
}
