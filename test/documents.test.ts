/** The documents: links, commands, and the pages under `/help/`. */

import { execFile, execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Token } from 'marked'
import { describe, expect, it } from 'vitest'
import { addressOf, headingIds, isDocument, listHelpFiles, tokensOf } from '../scripts/help.ts'
import { variableNames } from '../src/config/environment.ts'
import { english } from '../web/app/english.ts'
import { startApp } from './support/app.ts'
import { addAdmin } from './support/users.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const files = listHelpFiles(root)
const documents = files.filter(isDocument).map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
const built = join(root, 'dist/web/help')
const isExternal = (href: string) => /^[a-z]+:/i.test(href)

const targetsOf = (tokens: readonly Token[]) =>
  tokens.flatMap((token) => (token.type === 'link' || token.type === 'image' ? [String(token.href)] : []))

describe('the documents', () => {
  // Conformance: C-17.40.
  it('link only to existing files and headings', () => {
    const anchors = new Map(documents.map(({ path, text }) => [path, new Set(headingIds(text))]))
    const broken = documents.flatMap(({ path, text }) =>
      targetsOf(tokensOf(text))
        .filter((href) => !isExternal(href))
        .filter((href) => {
          const [file = '', anchor] = href.split('#')
          const target = file === '' ? path : posix.join(posix.dirname(path), file)
          if (!existsSync(join(root, target))) return true
          return anchor !== undefined && isDocument(target) && !anchors.get(target)?.has(anchor)
        })
        .map((href) => `${path}: ${href}`),
    )
    expect(broken).toEqual([])
  })

  // Conformance: C-17.41.
  it('are all reachable from docs/README.md', () => {
    const reached = new Set<string>()
    const pending = ['docs/README.md']
    for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
      reached.add(path)
      const text = documents.find((document) => document.path === path)?.text ?? ''
      for (const href of targetsOf(tokensOf(text))) {
        const target = posix.join(posix.dirname(path), href.split('#')[0] ?? '')
        if (!isExternal(href) && isDocument(target) && !reached.has(target)) pending.push(target)
      }
    }
    const isListed = (path: string) => !/^docs\/(decisions|evidence)\//.test(path)
    expect(documents.map(({ path }) => path).filter((path) => !reached.has(path) && isListed(path))).toEqual([])
  })

  // Conformance: C-17.42.
  it('have pictures that are small and described', () => {
    for (const { path, text } of documents) {
      for (const token of tokensOf(text)) {
        if (token.type !== 'image') continue
        const { size } = statSync(join(root, posix.dirname(path), token.href))
        expect({ picture: token.href, isSmall: size < 150_000, isDescribed: token.text.length > 20 }).toEqual({
          picture: token.href,
          isSmall: true,
          isDescribed: true,
        })
      }
    }
  })
})

/** Returns the commands in code of the documents that begin with one of these words: `micwatch`, `npm run`. */
function commandsOf(pattern: RegExp): { readonly path: string; readonly words: readonly string[] }[] {
  // The list of changes may name what earlier versions had, and the checklists contain expressions.
  const described = documents.filter(({ path }) => !/CHANGELOG|conformance|reliability|decisions/.test(path))
  return described.flatMap(({ path, text }) =>
    tokensOf(text)
      .flatMap((token) => (token.type === 'code' || token.type === 'codespan' ? [String(token.raw)] : []))
      .flatMap((code) => code.replaceAll('`', '').split(/\n|&&|;|\|/))
      .map((line) => line.replace(/#.*/, '').trim())
      .flatMap((line) => {
        const words = pattern.exec(line)?.[1]?.trim().split(/\s+/)
        return words === undefined ? [] : [{ path, words }]
      }),
  )
}

/** Long options, without values. */
const optionsOf = (words: readonly string[]) =>
  words.filter((word) => word.startsWith('--') && word.length > 2).map((word) => word.replace(/=.*/, ''))

/** Returns all English texts of the pages. */
function englishTexts(): ReadonlySet<string> {
  const collect = (value: unknown): string[] =>
    typeof value === 'string' ? [value] : Object.values(value as object).flatMap(collect)
  return new Set(collect(english))
}

describe('the names in the documents', () => {
  const current = documents.filter(({ path }) => !/CHANGELOG|conformance|reliability|decisions/.test(path))

  // Conformance: C-26.7.
  it('of pages and buttons match those in the pages', () => {
    const texts = englishTexts()
    const sources = [
      ...current,
      { path: 'deploy/prometheus/rules.yaml', text: readFileSync(join(root, 'deploy/prometheus/rules.yaml'), 'utf8') },
    ]
    const names = sources.flatMap(({ path, text }) =>
      [
        ...[...text.matchAll(/\*(Admin → [^*]+)\*/g)].flatMap(([, names = '']) => names.split(' → ')),
        ...[...text.matchAll(/\b[Pp]ages? (?:\*([^*]+)\*|"([^"]+)")/g)].map(([, name, quoted]) => name ?? quoted ?? ''),
      ].map((name) => ({ path, name })),
    )
    expect(names.length).toBeGreaterThan(40)
    expect(names.filter(({ name }) => !texts.has(name))).toEqual([])
  })

  // Conformance: C-26.8.
  it('of settings and variables are known to the program', () => {
    const list = execFileSync('git', ['ls-files', 'src', 'scripts', 'deploy', 'web', 'test', '.github'], {
      cwd: root,
      encoding: 'utf8',
    })
    const sources = list
      .trim()
      .split('\n')
      .filter((path) => /\.(ts|tsx|yaml|yml|service|example)$|file$/.test(path))
    const used = sources.flatMap((path) => readFileSync(join(root, path), 'utf8').match(namePattern) ?? [])
    // Examples define their own, as `${NAME}` or `NAME=…`.
    const examples = current.flatMap(({ text }) =>
      [...text.matchAll(/\$\{?([A-Z][A-Z_]+)|\b([A-Z][A-Z_]+)=/g)].map(([, one, other]) => one ?? other ?? ''),
    )
    const ofOtherPrograms = ['APPRISE_STATELESS_URLS', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE']
    const known = new Set<string>([
      ...variableNames,
      ...used,
      ...examples.filter((name) => !name.startsWith('MICWATCH_')),
      ...ofOtherPrograms,
    ])
    const names = current.flatMap(({ path, text }) =>
      tokensOf(text)
        .flatMap((token) => (token.type === 'code' || token.type === 'codespan' ? [String(token.raw)] : []))
        .flatMap((code) => code.match(namePattern) ?? [])
        .map((name) => ({ path, name })),
    )
    expect(names.length).toBeGreaterThan(100)
    expect(names.filter(({ name }) => !known.has(name))).toEqual([])
  })
})

/** Names of settings and of environment variables. */
const namePattern = /\b[A-Z]{2,}(?:_[A-Z]+)+\b/g

describe('the commands in the documents', () => {
  // Conformance: C-17.43.
  it('of micwatch exist, with their options', async () => {
    const helpTexts = new Map<string, Promise<string>>()
    const helpOf = (command: string) => {
      const text =
        helpTexts.get(command) ??
        promisify(execFile)(process.execPath, [join(root, 'dist/main.js'), ...command.split(' '), '--help'])
          .then(({ stdout }) => stdout)
          .catch(() => '')
      helpTexts.set(command, text)
      return text
    }
    const commands = commandsOf(/^(?:npx )?micwatch ((?:[a-z<-]).*)$/).filter(({ words }) => words[0] !== '…')
    expect(commands.length).toBeGreaterThan(40)
    const unknown = await Promise.all(
      commands.map(async ({ path, words }) => {
        const [first = '', second = ''] = words.map((word) => word.replace('<manufacturer>', 'shure'))
        const name = first.startsWith('-') ? '' : first
        const hasCommands = ['config', 'history', 'scan', 'user', 'token'].includes(name)
        const command = hasCommands && /^[a-z_]+$/.test(second) ? `${name} ${second}` : name
        const help = await helpOf(command)
        const usage = help.includes(`Usage: micwatch ${command === '' ? '[options]' : command}`)
        const missing = optionsOf(words).filter((option) => !new RegExp(`(^|\\s)${option}\\b`, 'm').test(help))
        return usage && missing.length === 0 ? [] : [`${path}: micwatch ${words.join(' ')}`]
      }),
    )
    expect(unknown.flat()).toEqual([])
  })

  // Conformance: C-17.44.
  it('of npm exist, with their options', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const commands = commandsOf(/^npm run ([a-z].*)$/)
    expect(commands.length).toBeGreaterThan(10)
    for (const { path, words } of commands) {
      const [script = ''] = words
      expect({ path, script, exists: script in scripts }).toEqual({ path, script, exists: true })
      const source = /\S+\.ts$/.exec(scripts[script])?.[0]
      const text = source === undefined ? '' : readFileSync(join(root, source), 'utf8')
      for (const option of optionsOf(words)) {
        expect({ path, script, option, isNamed: text.includes(option.slice(2)) }).toMatchObject({ isNamed: true })
      }
    }
  })
})

describe('the help', () => {
  // Conformance: C-17.45.
  it('has only links to files and elements that exist', () => {
    const pages = new Map(
      files.filter(isDocument).map((path) => [addressOf(path), readFileSync(join(built, addressOf(path)), 'utf8')]),
    )
    const broken = [...pages].flatMap(([address, html]) =>
      [...html.matchAll(/(?:href|src)="([^"]*)"/g)]
        .map(([, href = '']) => href)
        .filter((href) => !isExternal(href))
        .filter((href) => {
          const [path = '', id] = href.split('#')
          const target = path === '' ? address : posix.join(posix.dirname(address), path)
          // The monitor
          if (target === '../') return false
          if (!existsSync(join(built, target))) return true
          return id !== undefined && !pages.get(target)?.includes(`id="${id}"`)
        })
        .map((href) => `${address}: ${href}`),
    )
    expect(pages.size).toBeGreaterThan(40)
    expect(broken).toEqual([])
  })

  // Conformance: C-17.46.
  it('is served below the mount prefix, under the policy of all pages, with their script', async () => {
    const app = await startApp({ config: { server: { mount: '/venue' } } })
    const monitor = await app.get('/')
    for (const path of ['/help/index.html', '/help/guide/states.html', '/help/project/deploy/compose.yaml.txt']) {
      const { status, headers, bytes } = await app.get(path)
      expect({ path, status, policy: headers['content-security-policy'] }).toEqual({
        path,
        status: 200,
        policy: monitor.headers['content-security-policy'],
      })
      const html = String(bytes).replaceAll(
        /<script type="module" crossorigin src="[./]+\/assets\/[\w-]+\.js"><\/script>/g,
        '',
      )
      expect(html).not.toMatch(/<script|<style|style="|https?:\/\/[^"]*\.(?:js|css|woff2)/)
    }
    for (const path of ['/help', '/help/']) {
      expect((await app.get(path)).headers.location).toBe('/venue/help/index.html')
    }
    expect((await app.get('/help/images/wall.png')).headers['content-type']).toBe('image/png')
    expect((await app.get('/help/no-such-page.html')).status).toBe(404)
    expect((await app.get('/help/..%2f..%2fmain.js')).status).not.toBe(200)
  })

  // Conformance: C-17.47.
  it('requires a sign-in where the pages do', async () => {
    const app = await startApp({ config: { require_login: true } })
    await addAdmin(app)
    for (const path of ['/help', '/help/', '/help/faq.html']) {
      const { status, headers } = await app.get(path, { accept: 'text/html' })
      expect({ path, status, location: headers.location }).toMatchObject({
        path,
        status: 302,
        location: expect.stringContaining('/sign-in'),
      })
    }
  })
})
