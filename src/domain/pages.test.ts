import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import catalogue from '../../web/languages/en.json' with { type: 'json' }
import { buttonNames, pageNames } from './pages.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

test('hints name pages and buttons as the menus and the pages do', () => {
  const { nav, shell } = catalogue
  const titles: Readonly<Record<string, { readonly title: string }>> = shell.pages
  const expected = Object.keys(pageNames).map((name) => {
    const title = titles[name]?.title
    return [name, title === undefined ? { ...nav, overview: shell.admin }[name] : `${shell.admin} → ${title}`]
  })
  expect(pageNames).toEqual(Object.fromEntries(expected))
  expect(buttonNames).toEqual({ acknowledge: shell.overview.acknowledge })
})

test('messages take the names of pages from one place', () => {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => /(?<!\.test)\.ts$/.test(name))
  expect(files.length).toBeGreaterThan(500)
  const code = files.map((name) => [name, readFileSync(join(root, name), 'utf8').replace(/^ *(\/?\*|\/\/).*$/gm, '')])
  const naming = code.filter(([, text = '']) => /\bpages? [A-Z][a-z]|Admin →/.test(text))
  expect(naming.map(([name]) => name)).toEqual(['domain/pages.ts'])
})
