import { readdirSync, readFileSync } from 'node:fs'
import { parseSync } from 'vite'
import { expect, it } from 'vitest'
import { chooseLanguage } from './words.ts'

it.each<[readonly string[], string, string]>([
  [['de-AT', 'en'], 'de', 'de-AT'],
  [['fr', 'de'], 'de', 'de'],
  [['en-GB', 'de'], 'en', 'en-GB'],
  [['pt-BR'], 'pt-br', 'pt-BR'],
  [['pt-PT', 'pt-br'], 'pt-br', 'pt-br'],
  [['zh-Hant-TW'], 'zh-hant', 'zh-Hant-TW'],
  [['fr'], 'en', 'en'],
  [[], 'en', 'en'],
])('chooses for %j the file %s', (wanted, name, locale) => {
  expect(chooseLanguage(wanted, ['en', 'de', 'pt-br', 'zh-hant'])).toEqual({ name, locale })
})

const web = new URL('./', import.meta.url)
const components = readdirSync(web, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.tsx'))

it('no component says a word of its own', () => {
  expect(components.length).toBeGreaterThan(80)
  const said = components.flatMap((path) =>
    wordsOf(path, readFileSync(new URL(path, web), 'utf8')).map((text) => `${path}: ${text}`),
  )
  expect(said).toEqual([])
})

it.each([
  ['<p>Save</p>', ['Save']],
  ['<p>{is ? `an old one` : "a new one"}</p>', ['an old one', 'a new one']],
  ['<Field label="Name" hint={is && "soon"} name="title" />', ['Name', 'soon']],
  ['<p title={words.a} className="big">{words.b} · {n}</p>', []],
  ['<><code>micwatch serve</code> runs</>', ['runs']],
  ['<p title={of === "name" ? a : b}>{is === "so" && <b>{x}</b>}</p>', []],
])('finds the words of %s', (element, words) => {
  expect(wordsOf('a.tsx', `const a = ${element}`)).toEqual(words)
})

/** A node of the syntax tree, as far as it matters here. */
interface Node {
  readonly type: string
  readonly [field: string]: unknown
}

/** Read out or shown, whichever component has them. */
const spoken = new Set([
  ...['alt', 'action', 'aria-label', 'aria-description', 'caption', 'hint', 'intro', 'label', 'placeholder'],
  ...['text', 'title'],
])
/** What is in them is the same in every language. */
const verbatim = new Set(['code', 'pre', 'kbd'])

/** The texts of a component's elements that somebody would read. */
function wordsOf(path: string, text: string): string[] {
  const said: string[] = []
  see(parseSync(path, text).program as unknown as Node, false)
  return said.map((one) => one.trim()).filter((one) => /\p{L}{2}/u.test(one))

  function see(node: Node, isShown: boolean) {
    if (isShown && node.type === 'JSXText') said.push(String(node.value))
    if (isShown && node.type === 'Literal' && typeof node.value === 'string') said.push(node.value)
    if (isShown && node.type === 'TemplateElement') said.push((node.value as { cooked: string }).cooked)
    for (const child of childrenOf(node)) see(child, isShownIn(node, child, isShown))
  }
}

/** Is what stands in this part of `node` shown? */
function isShownIn(node: Node, part: Node, isShown: boolean): boolean {
  switch (node.type) {
    case 'JSXElement':
      return part.type !== 'JSXOpeningElement' && !verbatim.has(nameOf(node.openingElement as Node))
    case 'JSXFragment':
      return true
    case 'JSXAttribute':
      return spoken.has(nameOf(node))
    case 'JSXExpressionContainer':
    case 'ConditionalExpression':
    case 'LogicalExpression':
    case 'TemplateLiteral':
      return isShown
    default:
      return false
  }
}

function nameOf({ name }: Node): string {
  return String((name as Node).name)
}

function childrenOf(node: Node): Node[] {
  return Object.values(node)
    .flat()
    .filter((value) => typeof value === 'object' && value !== null && 'type' in value) as Node[]
}
