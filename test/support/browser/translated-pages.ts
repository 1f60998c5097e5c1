/** Builds the pages with a second, generated language: every English text in square brackets. */

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { english } from '../../../web/app/english.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** Builds into the empty `folder` and returns the folder of the built pages. */
export async function buildTranslatedPages(folder: string, tag: string): Promise<string> {
  for (const path of [
    'web',
    'src/contract',
    'src/domain',
    'src/tsconfig.json',
    'src/globals.d.ts',
    'package.json',
    'vite.config.ts',
    'scripts/catalogues.ts',
    'scripts/page-files.ts',
    'scripts/source.ts',
    'scripts/archived-commit.txt',
    'tsconfig.json',
  ]) {
    await cp(join(root, path), join(folder, path), { recursive: true })
  }
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  // The pages must have the version of the service, which depends on the commit.
  if (existsSync(join(root, '.git'))) await symlink(join(root, '.git'), join(folder, '.git'))
  await writeFile(join(folder, 'web/languages', `${tag}.json`), JSON.stringify(bracketed(english)))
  const vite = join(root, 'node_modules/vite/bin/vite.js')
  const env = { PATH: process.env.PATH, NODE_ENV: 'production' }
  await promisify(execFile)(process.execPath, [vite, 'build', '--config', join(folder, 'vite.config.ts')], {
    cwd: folder,
    env,
  })
  return join(folder, 'dist/web')
}

function bracketed(value: unknown): unknown {
  if (typeof value === 'string') return `[${value}]`
  return Object.fromEntries(Object.entries(value as object).map(([key, child]) => [key, bracketed(child)]))
}

/**
 * Returns the texts of a page (displayed, announced, hints, title) that are neither in brackets nor data nor formatted
 * by Intl. Single letters are ignored, because they are keyboard keys.
 */
export async function untranslatedTexts(page: Page, data: ReadonlySet<string>): Promise<string[]> {
  const texts = await page.evaluate<string[]>(collect)
  const parts = texts.flatMap((text) => withoutBrackets(text).split('·')).map((text) => text.trim())
  const words = parts.filter((text) => /\p{L}{2}/u.test(text.replaceAll(formatted, '')) && !text.startsWith('http'))
  return [...new Set(words)].filter((text) => !data.has(text))
}

/**
 * Quantities and times as Intl formats them in the browser's default locale: "12 min", "Nov 22, 2026, 4:08:55 PM",
 * "2026 M11 22, Sun".
 */
const formatted =
  /\d+\s(sec|min|hr|days?|wks?|GB)\b|\b([A-Z][a-z]{2}, )?[A-Z][a-z]{2} \d{1,2}(, \d{4})?\b|\d{4} M\d\d \d{1,2}, [A-Z][a-z]{2}\b|\d:\d\d(:\d\d(\.\d)?)?\s[AP]M\b/g

/** Collects the texts, except for code and keyboard keys, which are the same in every language, and for other languages. */
const collect = `(() => {
  const texts = [document.title]
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    if (node.parentElement.closest('script, style, noscript, code, pre, kbd, body [lang]') === null) texts.push(node.data)
  }
  for (const name of ['aria-label', 'aria-description', 'aria-valuetext', 'title', 'placeholder', 'alt', 'data-label']) {
    for (const element of document.querySelectorAll('[' + name + ']')) texts.push(element.getAttribute(name))
  }
  return texts
})()`

function withoutBrackets(text: string): string {
  const stripped = text.replaceAll(/\[[^[\]]*\]/g, '')
  return stripped === text ? text : withoutBrackets(stripped)
}
