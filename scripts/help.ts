/**
 * Renders the documents to HTML pages, which the service serves under `/help/`. They load the script and the styles of
 * the other pages, for the status line.
 */

import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { Marked, type Token, type Tokens } from 'marked'

/** The document that lists all others and defines the navigation. */
const indexSource = 'docs/README.md'
/** Files outside `docs/` that are also part of the help. */
const otherFiles = ['CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'SUPPORT.md', 'ARCHITECTURE.md']
const folders = ['docs', 'deploy']
/** Relative to `/help/`. */
const styleSheet = 'help.css'

const parser = new Marked({ gfm: true })

/** A rendered document. */
interface HelpPage {
  /** Relative to `/help/`. */
  readonly address: string
  readonly html: string
}

interface NavigationSection {
  readonly title: string
  readonly entries: readonly { readonly source: string; readonly title: string }[]
}

/** Lists the files in the help, as paths below `root`. */
export function listHelpFiles(root: string): string[] {
  const inFolders = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => posix.join(entry.parentPath.slice(root.length).replaceAll('\\', '/'), entry.name))
      .map((path) => path.replace(/^\//, '')),
  )
  return [...otherFiles, ...inFolders].sort()
}

export const isDocument = (path: string) => path.endsWith('.md')

/** Returns the address of a file below `/help/`. */
export function addressOf(path: string): string {
  if (path === indexSource) return 'index.html'
  const below = path.startsWith('docs/') ? path.slice('docs/'.length) : posix.join('project', path)
  if (isDocument(path)) return below.replace(/\.md$/, '.html')
  // Browsers display text files, and would download the others.
  return /\.(png|svg|txt)$/.test(path) ? below : `${below}.txt`
}

/** Returns the tokens of a document in order, including nested ones. */
export function tokensOf(markdown: string): Token[] {
  const tokens: Token[] = []
  const add = (token: Token) => {
    tokens.push(token)
  }
  void parser.walkTokens(parser.lexer(markdown), add)
  return tokens
}

/** Returns the ids of the headings in GitHub's form. */
export function headingIds(markdown: string): string[] {
  const slug = slugger()
  return tokensOf(markdown)
    .filter((token): token is Tokens.Heading => token.type === 'heading')
    .map((token) => slug(plainText(token.tokens)))
}

/** The returned function creates the id of the next heading of a document. */
function slugger(): (heading: string) => string {
  const counts = new Map<string, number>()
  return (heading) => {
    const slug = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-')
    const count = counts.get(slug) ?? 0
    counts.set(slug, count + 1)
    return count === 0 ? slug : `${slug}-${count}`
  }
}

function plainText(tokens: readonly Token[]): string {
  return tokens
    .map((token) => ('tokens' in token && token.tokens ? plainText(token.tokens) : 'text' in token ? token.text : ''))
    .join('')
}

const htmlEntities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escapeHtml = (text: string) => text.replace(/[&<>"]/g, (character) => htmlEntities[character] ?? '')

/** Reads the sections and their documents from the index: a heading, then a list whose items begin with a link. */
function readNavigation(root: string): NavigationSection[] {
  const sections: { title: string; entries: { source: string; title: string }[] }[] = []
  for (const token of parser.lexer(readFileSync(join(root, indexSource), 'utf8')) as Tokens.Generic[]) {
    if (token.type === 'heading' && token.depth === 2) sections.push({ title: token.text, entries: [] })
    if (token.type !== 'list') continue
    for (const item of (token as Tokens.List).items) {
      const link = tokensOf(item.text).find((part): part is Tokens.Link => part.type === 'link')
      if (link === undefined) throw new Error(`${indexSource}: an item without a link: ${item.text}`)
      const source = posix.join(dirname(indexSource), link.href)
      sections.at(-1)?.entries.push({ source, title: link.text })
    }
  }
  return sections
}

/** Links to files outside the help become text. */
function renderDocument(root: string, source: string, { sections, assets }: Frame): HelpPage {
  const files = new Set(listHelpFiles(root))
  const address = addressOf(source)
  const base = posix.relative(dirname(address), '.') || '.'
  const slug = slugger()
  const contents: { readonly id: string; readonly title: string }[] = []
  let title = ''
  const marked = new Marked({ gfm: true })
  marked.use({
    renderer: {
      heading({ tokens, depth }) {
        const html = this.parser.parseInline(tokens)
        const id = slug(plainText(tokens))
        if (depth === 1) title ||= plainText(tokens)
        if (depth === 2) contents.push({ id, title: html.replace(/<\/?a\b[^>]*>/g, '') })
        return `<h${depth} id="${id}">${html}</h${depth}>\n`
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens)
        const target = targetOf(href, source, address, files)
        return target === null ? text : `<a href="${escapeHtml(target)}">${text}</a>`
      },
      image({ href, text }) {
        const target = targetOf(href, source, address, files)
        if (target === null) throw new Error(`${source}: the picture ${href} is missing`)
        const { width, height } = pictureSize(join(root, dirname(source), href))
        return `<img src="${escapeHtml(target)}" alt="${escapeHtml(text)}" width="${width}" height="${height}" loading="lazy">`
      },
      // A wide table or example scrolls within the page, even with the keyboard.
      table(token) {
        // A heading without text is not a heading.
        const isEmpty = (cell: Tokens.TableCell) => cell.header && cell.tokens.length === 0
        const cells = (row: readonly Tokens.TableCell[]) =>
          row.map((cell) => (isEmpty(cell) ? '<td></td>' : this.tablecell(cell))).join('')
        const rows = token.rows.map((row) => `<tr>${cells(row)}</tr>`).join('\n')
        const label = escapeHtml(
          `Table: ${
            token.header
              .map((cell) => plainText(cell.tokens))
              .filter(Boolean)
              .join(', ') || 'overview'
          }`,
        )
        return (
          `<div class="scrollable" role="group" tabindex="0" aria-label="${label}"><table><thead><tr>${cells(token.header)}` +
          `</tr></thead><tbody>${rows}</tbody></table></div>\n`
        )
      },
      code({ text }) {
        return `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>\n`
      },
    },
  })
  const body = marked.parse(readFileSync(join(root, source), 'utf8'), { async: false })
  return { address, html: frame({ source, title, body, contents, base, address, sections, assets }) }
}

/** Returns the address of a link, relative to the page; null if the help does not contain the file. */
function targetOf(href: string, source: string, address: string, files: ReadonlySet<string>): string | null {
  if (/^[a-z]+:/i.test(href) || href.startsWith('#')) return href
  const [path = '', anchor] = href.split('#')
  const file = posix.join(dirname(source), path)
  if (!files.has(file)) return null
  return posix.relative(dirname(address), addressOf(file)) + (anchor === undefined ? '' : `#${anchor}`)
}

/** Reads the size from the header of a PNG file. */
function pictureSize(path: string): { readonly width: number; readonly height: number } {
  const bytes = readFileSync(path)
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
}

/** The same for all documents. */
interface Frame {
  readonly sections: readonly NavigationSection[]
  /** The elements of `index.html` that load scripts and styles. */
  readonly assets: readonly string[]
}

interface FrameOptions extends Frame {
  readonly source: string
  readonly title: string
  readonly body: string
  readonly contents: readonly { readonly id: string; readonly title: string }[]
  /** The address of the help, relative to the page. */
  readonly base: string
  readonly address: string
}

function frame({ source, title, body, contents, base, address, sections, assets }: FrameOptions): string {
  const isIndex = source === indexSource
  const link = (file: string, text: string, attributes = '') =>
    `<a href="${posix.relative(dirname(address), addressOf(file))}"${attributes}>${text}</a>`
  const lists = sections.map(({ title, entries }) => {
    const items = entries.map(
      (entry) =>
        `<li>${link(entry.source, escapeHtml(entry.title), entry.source === source ? ' aria-current="page"' : '')}</li>`,
    )
    return `<h2>${escapeHtml(title)}</h2>\n<ul>${items.join('\n')}</ul>`
  })
  const order = sections.flatMap(({ entries }) => entries)
  const position = order.findIndex((entry) => entry.source === source)
  const [before, after] = position === -1 ? [] : [order[position - 1], order[position + 1]]
  const onThisPage = contents.map(({ id, title }) => `<li><a href="#${id}">${title}</a></li>`).join('\n')
  const [heading, rest] = splitAfterHeading(body)
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${isIndex ? 'Help' : `${escapeHtml(title)} · Help`} · Micwatch</title>`,
    '<meta name="color-scheme" content="dark">',
    ...assets.map((element) => element.replace('="./', `="${base}/../`)),
    `<link rel="stylesheet" href="${base}/${styleSheet}">`,
    '</head>',
    '<body>',
    '<a class="skip" href="#content" lang="en">Skip to content</a>',
    `<header class="bar" lang="en"><a class="brand" href="${base}/../">Micwatch</a> ${link(indexSource, 'Help', isIndex ? ' aria-current="page"' : '')} <a class="to-documents" href="#documents">All documents</a></header>`,
    '<div class="columns" lang="en">',
    '<main id="content" tabindex="-1">',
    heading,
    !isIndex && contents.length > 2
      ? `<details class="contents"><summary>On this page</summary><ul>${onThisPage}</ul></details>`
      : '',
    rest,
    before || after
      ? `<p class="neighbours">${before ? link(before.source, `Previous: ${escapeHtml(before.title)}`) : ''} ${after ? link(after.source, `Next: ${escapeHtml(after.title)}`) : ''}</p>`
      : '',
    '</main>',
    `<nav id="documents" aria-label="Documents">${lists.join('\n')}</nav>`,
    '</div>',
    '<div id="status"></div>',
    '</body>',
    '</html>',
  ].join('\n')
}

function splitAfterHeading(body: string): readonly [string, string] {
  const end = body.indexOf('</h1>')
  return end === -1 ? ['', body] : [body.slice(0, end + '</h1>'.length), body.slice(end + '</h1>'.length)]
}

/** Writes all pages and linked files to the folder `help` of the built pages. */
export function writeHelp(root: string, web: string): void {
  const target = join(web, 'help')
  const frame = { sections: readNavigation(root), assets: readAssets(web) }
  for (const file of listHelpFiles(root)) {
    const path = join(target, addressOf(file))
    mkdirSync(dirname(path), { recursive: true })
    if (isDocument(file)) writeFileSync(path, renderDocument(root, file, frame).html)
    else copyFileSync(join(root, file), path)
  }
  copyFileSync(join(root, 'scripts', styleSheet), join(target, styleSheet))
}

function readAssets(web: string): string[] {
  const html = readFileSync(join(web, 'index.html'), 'utf8')
  return html.match(/<link rel="(?:icon|stylesheet|modulepreload)"[^>]*>|<script type="module"[^>]*><\/script>/g) ?? []
}
