import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { parseSync } from 'vite'
import { describe, expect, it } from 'vitest'
import { english as englishTexts } from './english.ts'
import { chooseLanguage, preferredLocales, t } from './i18n.ts'
import { pageSections } from './page-sections.ts'

describe('chooseLanguage', () => {
  it.each<[readonly string[], string, string]>([
    [['de-AT', 'en'], 'de', 'de-AT'],
    [['fr', 'de'], 'de', 'de'],
    [['en-GB', 'de'], 'en', 'en-GB'],
    [['pt-BR'], 'pt-br', 'pt-BR'],
    [['pt-PT', 'pt-br'], 'pt-br', 'pt-br'],
    [['zh-Hant-TW'], 'zh-hant', 'zh-Hant-TW'],
    [['fr'], 'en', 'en'],
    [[], 'en', 'en'],
  ])('chooses for %j the catalogue %s', (preferred, language, locale) => {
    expect(chooseLanguage(preferred, ['en', 'de', 'pt-br', 'zh-hant'])).toEqual({ language, locale })
  })
})

describe('preferredLocales', () => {
  it.each<[string | null, readonly string[], readonly string[]]>([
    [null, ['de-AT', 'en'], ['de-AT', 'en']],
    ['fr', ['de-AT', 'fr-CA', 'en'], ['fr-CA', 'fr', 'de-AT', 'fr-CA', 'en']],
    ['fr', ['fro', 'de'], ['fr', 'fro', 'de']],
    ['pt-br', ['pt-PT', 'PT-BR'], ['PT-BR', 'pt-br', 'pt-PT', 'PT-BR']],
  ])('with %j chosen and %j preferred are %j', (chosen, preferred, locales) => {
    expect(preferredLocales(chosen, preferred)).toEqual(locales)
  })
})

const web = new URL('../', import.meta.url)
const sources = readdirSync(web, { recursive: true, encoding: 'utf8' }).filter((path) =>
  /(?<!\.test)\.tsx?$/.test(path),
)
const english = readCatalogue('en')
const calls = usages()
const pluralSuffix = /_(zero|one|two|few|many|other)$/

describe('catalogues', () => {
  const languages = readdirSync(new URL('languages/', web)).map((name) => name.replace('.json', ''))

  it.each(languages)('%s has every key of English, with the plural forms of its language', (language) => {
    const forms = ['zero', ...new Intl.PluralRules(language).resolvedOptions().pluralCategories]
    const keys = [...readCatalogue(language).keys()]
    const expected = [...english.keys()].flatMap((key) => {
      if (!pluralSuffix.test(key)) return [key]
      const base = key.replace(pluralSuffix, '')
      return forms.map((form) => `${base}_${form}`).filter((form) => !form.endsWith('_zero') || english.has(form))
    })
    expect(keys.sort()).toEqual([...new Set(expected)].sort())
  })

  it('English has no key that no module uses', () => {
    const patterns = [...new Map(calls.map(({ key }) => [key.source, key])).values()]
    const used = (key: string) => patterns.some((pattern) => pattern.test(key))
    const keys = new Set([...english.keys()].map((key) => key.replace(pluralSuffix, '')))
    expect([...keys].filter((key) => !used(key))).toEqual([])
  })

  it('every call passes the values that its text contains', () => {
    const textsWithValues = [...english].filter(([, text]) => text.includes('{{'))
    const wrong = calls.flatMap(({ path, key, values }) =>
      textsWithValues.flatMap(([name, text]) => {
        if (values === null || !key.test(name.replace(pluralSuffix, ''))) return []
        const missing = [...text.matchAll(/\{\{(\w+)\}\}/g)].filter(([, value = '']) => !values.includes(value))
        return missing.map(([value]) => `${path}: ${name} ${value}`)
      }),
    )
    expect(wrong).toEqual([])
  })

  it('inserts values as they are, without escaping or interpolation', () => {
    const name = '<b>$t(product) {{name}} & "x"</b>'
    expect(t('arrange.selected', { name })).toBe(`${name} selected.`)
  })
})

describe('sections of pages', () => {
  const divided = new Set<string>(pageSections)
  const sectionsOf = (modules: Iterable<string>) => {
    const paths = new Set(modules)
    const sections = calls
      .filter(({ path }) => paths.has(path))
      .map(({ key }) => /^\^(\w+)\\\./.exec(key.source)?.[1] ?? '')
    return [...new Set(sections)].filter((section) => divided.has(section)).sort()
  }
  const atStart = reachable('app/main.tsx', new Set())

  it('are not used by modules that are loaded at the start', () => {
    expect(atStart).toContain('app/status-line.tsx')
    expect(sectionsOf(atStart)).toEqual([])
  })

  const onDemand = sources.flatMap((path) =>
    [
      ...readFileSync(new URL(path, web), 'utf8').matchAll(/(?:withTexts\(\[(.*?)\], \(\) =>\s+)?import\('(.*?)'\)/g),
    ].map(
      ([, sections = '', module = '']) =>
        [posix.join(posix.dirname(path), module), sections.match(/\w+/g) ?? [], path] as const,
    ),
  )

  it.each(onDemand)('%s is loaded with exactly the sections that it uses: %j (%s)', (module, sections) => {
    expect(sectionsOf(reachable(module, atStart))).toEqual([...sections].sort())
  })
})

/** Returns the modules that are loaded with `path`, and that are not in `known`. */
function reachable(path: string, known: ReadonlySet<string>): Set<string> {
  const found = new Set<string>()
  const add = (path: string) => {
    if (known.has(path) || found.has(path) || !sources.includes(path)) return
    found.add(path)
    visit(path, parseSync(path, readFileSync(new URL(path, web), 'utf8')).program as unknown as Node)
  }
  const visit = (path: string, node: Node) => {
    const isImport = /^(?:Import|ExportNamed|ExportAll)Declaration$/.test(node.type) && !isOfTypes(node)
    if (isImport) {
      const source = node.source as { value: string } | null
      if (source?.value.startsWith('.')) add(posix.join(posix.dirname(path), source.value))
    }
    for (const child of childrenOf(node)) visit(path, child)
  }
  add(path)
  return found
}

function isOfTypes({ importKind, exportKind }: Node): boolean {
  return importKind === 'type' || exportKind === 'type'
}

const components = sources.filter((path) => path.endsWith('.tsx'))

describe('components', () => {
  it('contain no literal text', () => {
    expect(components.length).toBeGreaterThan(80)
    const texts = components.flatMap((path) =>
      literalTexts(path, readFileSync(new URL(path, web), 'utf8')).map((text) => `${path}: ${text}`),
    )
    expect(texts).toEqual([])
  })

  it.each([
    ['<p>Save</p>', ['Save']],
    ['<p>{is ? `an old one` : "a new one"}</p>', ['an old one', 'a new one']],
    ['<Field label="Name" hint={is && "soon"} name="title" />', ['Name', 'soon']],
    ['<p title={texts.a} className="big">{texts.b} · {n}</p>', []],
    ['<><code>micwatch serve</code> runs</>', ['runs']],
    ['<p title={of === "name" ? a : b}>{is === "so" && <b>{x}</b>}</p>', []],
  ])('literalTexts finds the texts in %s', (element, texts) => {
    expect(literalTexts('a.tsx', `const a = ${element}`)).toEqual(texts)
  })
})

interface Usage {
  readonly path: string
  /** Matches the catalogue keys that the call may read. */
  readonly key: RegExp
  /** Names of the interpolated values; null when they are not an object literal. */
  readonly values: readonly string[] | null
}

/** Finds the calls of `t`, and all other string literals that are keys. */
function usages(): Usage[] {
  return sources.flatMap((path) => {
    const found: Usage[] = []
    const add = (node: Node, values: Usage['values']) => {
      if (node.type === 'ConditionalExpression') {
        add(node.consequent as Node, values)
        add(node.alternate as Node, values)
      }
      const pattern = keyPattern(node)
      if (pattern !== null) found.push({ path, key: new RegExp(`^${pattern}$`), values })
    }
    const visit = (node: Node) => {
      if (node.type === 'CallExpression' && (node.callee as Node).name === 't') {
        const [key, options] = node.arguments as Node[]
        if (key !== undefined)
          add(key, options === undefined && key.type === 'TemplateLiteral' ? null : valueNames(options))
      } else if (node.type === 'Literal') {
        add(node, null)
      }
      for (const child of childrenOf(node)) visit(child)
    }
    visit(parseSync(path, readFileSync(new URL(path, web), 'utf8')).program as unknown as Node)
    return found
  })
}

function keyPattern(node: Node): string | null {
  if (node.type === 'Literal' && typeof node.value === 'string') return escapePattern(node.value)
  if (node.type !== 'TemplateLiteral') return null
  const texts = (node.quasis as Node[]).map((part) => escapePattern((part.value as { cooked: string }).cooked))
  return texts.join('[\\w.]+')
}

function valueNames(options: Node | undefined): string[] | null {
  if (options === undefined) return []
  if (options.type !== 'ObjectExpression') return null
  const keys = (options.properties as Node[]).map(({ key }) => key as Node | undefined)
  // A spread property has no key.
  return keys.some((key) => key === undefined) ? null : keys.map((key) => String(key?.name))
}

function readCatalogue(language: string): Map<string, string> {
  const texts = new Map<string, string>()
  const collect = (value: object, path: string) => {
    for (const [key, child] of Object.entries(value)) {
      if (typeof child === 'string') texts.set(path + key, child)
      else collect(child, `${path}${key}.`)
    }
  }
  const catalogue = () => JSON.parse(readFileSync(new URL(`languages/${language}.json`, web), 'utf8'))
  collect(language === 'en' ? englishTexts : catalogue(), '')
  return texts
}

/** The part of an ESTree node that these checks read. */
interface Node {
  readonly type: string
  readonly [field: string]: unknown
}

/** Attributes whose text is displayed or announced. */
const textAttributes = new Set([
  ...['alt', 'action', 'aria-label', 'aria-description', 'caption', 'hint', 'intro', 'label', 'placeholder'],
  ...['text', 'title'],
])
/** Elements whose content is the same in every language. */
const verbatim = new Set(['code', 'pre', 'kbd'])

/** Returns the literal texts that a component displays or announces. */
function literalTexts(path: string, text: string): string[] {
  const texts: string[] = []
  visit(parseSync(path, text).program as unknown as Node, false)
  return texts.map((text) => text.trim()).filter((text) => /\p{L}{2}/u.test(text))

  function visit(node: Node, isShown: boolean) {
    if (isShown && node.type === 'JSXText') texts.push(String(node.value))
    if (isShown && node.type === 'Literal' && typeof node.value === 'string') texts.push(node.value)
    if (isShown && node.type === 'TemplateElement') texts.push((node.value as { cooked: string }).cooked)
    for (const child of childrenOf(node)) visit(child, isShownIn(node, child, isShown))
  }
}

function isShownIn(node: Node, part: Node, isShown: boolean): boolean {
  switch (node.type) {
    case 'JSXElement':
      return part.type !== 'JSXOpeningElement' && !verbatim.has(nameOf(node.openingElement as Node))
    case 'JSXFragment':
      return true
    case 'JSXAttribute':
      return textAttributes.has(nameOf(node))
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

function escapePattern(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)
}

it('the guide lists every word for a state', () => {
  const guide = readFileSync(new URL('../../docs/guide/states.md', import.meta.url), 'utf8')
  const { states, flags, health, connections, connection, card } = JSON.parse(
    readFileSync(new URL('languages/en.json', web), 'utf8'),
  ) as Record<string, Record<string, string & Record<string, string>>>
  const others = { silent: health?.silent, sinceBefore: card?.sinceBefore }
  const words = [states, flags, health?.statuses, connections?.statuses, others, connection]
    .flatMap((texts) => Object.values(texts ?? {}))
    .map((word) => String(word).replace('{{count}}', '7').replace('{{age}}', '12 sec').replace('{{time}}', '5:26'))
  expect(words.length).toBeGreaterThan(40)
  expect(words.filter((word) => !new RegExp(`[|*] ?${word.replaceAll('.', '\\.')} ?[|*]`).test(guide))).toEqual([])
})
