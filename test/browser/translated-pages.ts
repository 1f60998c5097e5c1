/** The pages, built with a second language that a machine has made: every text of English in brackets. */

import { execFile } from 'node:child_process'
import { cp, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** The whole of what a language takes: this file in `web/languages/`. */
const language = `
import { type Language, language as english } from './en.ts'

function bracketed(value: unknown): unknown {
  if (typeof value === 'string') return value === '' ? '' : \`[\${value}]\`
  if (typeof value === 'function') return (...args: unknown[]) => bracketed(value(...args))
  return Object.fromEntries(Object.entries(value as object).map(([key, one]) => [key, bracketed(one)]))
}

export const language = bracketed(english) as Language
`

/** Into `folder`, which is empty; gives where the built pages are. */
export async function buildTranslatedPages(folder: string, tag: string): Promise<string> {
  for (const path of ['web', 'src/model', 'package.json', 'vite.config.ts', 'tsconfig.json']) {
    await cp(join(root, path), join(folder, path), { recursive: true })
  }
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  await writeFile(join(folder, 'web/languages', `${tag}.ts`), language)
  const vite = join(root, 'node_modules/vite/bin/vite.js')
  const env = { PATH: process.env.PATH, NODE_ENV: 'production' }
  await promisify(execFile)(process.execPath, [vite, 'build', '--config', join(folder, 'vite.config.ts')], {
    cwd: folder,
    env,
  })
  return join(folder, 'dist/web')
}

/**
 * What a page says (texts, names for listeners, hints, its title) that neither stands in brackets nor is data. A page
 * that has remained English says a lot of it. Single letters are keys.
 */
export async function untranslatedOf(page: Page, data: ReadonlySet<string>): Promise<string[]> {
  const said = await page.evaluate<string[]>(collect)
  const parts = said.flatMap((text) => withoutBrackets(text).split('·')).map((text) => text.trim())
  const words = parts.filter((text) => /\p{L}{2}/u.test(text) && !text.startsWith('http'))
  return [...new Set(words)].filter((text) => !data.has(text))
}

/** What is given in code is the same in every language. */
const collect = `(() => {
  const said = [document.title]
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    if (node.parentElement.closest('script, style, noscript, code, pre, kbd') === null) said.push(node.data)
  }
  for (const name of ['aria-label', 'aria-description', 'aria-valuetext', 'title', 'placeholder', 'alt', 'data-label']) {
    for (const element of document.querySelectorAll('[' + name + ']')) said.push(element.getAttribute(name))
  }
  return said
})()`

function withoutBrackets(text: string): string {
  const next = text.replaceAll(/\[[^[\]]*\]/g, '')
  return next === text ? text : withoutBrackets(next)
}
