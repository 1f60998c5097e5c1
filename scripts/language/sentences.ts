/** Finds the sentences in a file: comments and messages of source code, paragraphs and table cells of documents. */

export interface Sentence {
  readonly line: number
  readonly text: string
  /** True for the text of a string literal. */
  readonly isMessage?: boolean
}

interface Block {
  line: number
  text: string
}

export function sentencesOf(file: string, content: string): Sentence[] {
  const lines = content.split('\n')
  if (/\.tsx?$/.test(file)) {
    const messages = messagesIn(lines).flatMap(split)
    return [...commentsIn(lines).flatMap(split), ...messages.map((sentence) => ({ ...sentence, isMessage: true }))]
  }
  if (file.endsWith('.md')) return paragraphsIn(lines).flatMap(split)
  if (/\.(ya?ml|sh|service)$|(^|\/)(Dockerfile|Caddyfile)/.test(file)) return hashCommentsIn(lines).flatMap(split)
  return []
}

/** Joins the lines of a block, and starts a new block at an empty line, a tag or a list item. */
function collect(lines: readonly string[], textOf: (line: string) => string | undefined): Block[] {
  const blocks: Block[] = []
  let open: Block | undefined
  lines.forEach((line, index) => {
    const text = textOf(line)?.trim()
    if (text === undefined || text === '') {
      open = undefined
      return
    }
    if (open === undefined || /^(?:@|[-*] |\d+\. )/.test(text)) {
      open = { line: index + 1, text }
      blocks.push(open)
    } else open.text += ` ${text}`
  })
  return blocks
}

function commentsIn(lines: readonly string[]): Block[] {
  return collect(lines, (line) => {
    const text = /^\s*(?:\/\/+|\/\*\*?|\*(?!\/))\s?(.*)$/.exec(line) ?? /(?<=[\w)},;] )\/\/ (.*)$/.exec(line)
    const body = text?.[1]?.replace(/\*\/\s*$/, '')
    return body === undefined || /^(?:biome-ignore|@ts-|Conformance:)/.test(body) ? undefined : body
  })
}

/** Comments that are indented further are examples. */
function hashCommentsIn(lines: readonly string[]): Block[] {
  return collect(lines, (line) => /^\s*#(?!!)(?: (\S.*))?$/.exec(line)?.[1])
}

/** String literals of at least four words that begin like a sentence. */
function messagesIn(lines: readonly string[]): Block[] {
  return lines.flatMap((line, index) => {
    if (/^\s*(?:\/\/|\/?\*)/.test(line)) return []
    return [...line.matchAll(/(["'`])(\p{Lu}(?:(?!\1)[^\\]|\\.)*)\1/gu)]
      .map((match) => (match[2] ?? '').replace(/\\[nrt]/g, ' ').replace(/\\(.)/g, '$1'))
      .filter((text) => text.split(' ').length >= 4)
      .map((text) => ({ line: index + 1, text }))
  })
}

function paragraphsIn(lines: readonly string[]): Block[] {
  let inCode = false
  const prose = lines.map((line) => {
    if (/^\s*(?:```|~~~)/.test(line)) {
      inCode = !inCode
      return ''
    }
    return inCode || /^\s*(?:#|\||<)/.test(line) ? '' : line.replace(/^\s*> ?/, '')
  })
  const cells = lines.flatMap((line, index) =>
    /^\s*\|/.test(line) ? line.split(/(?<!\\)\|/).map((cell) => ({ line: index + 1, text: cell.trim() })) : [],
  )
  return [...collect(prose, (line) => line), ...cells]
}

function split({ line, text }: Block): Sentence[] {
  // A colon before a capital letter ends a label.
  return text
    .replace(/^(?:[-*]|\d+\.) /, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/`[^`]*`/g, '`code`')
    .replace(/\*\*([^*]*)\*\*/g, '$1')
    .split(/(?<=[.!?][)"*]?)\s+(?=[\p{Lu}\d`"(*])|(?<=:)\s+(?=\p{Lu})/u)
    .filter((sentence) => sentence !== '')
    .map((sentence) => ({ line, text: sentence }))
}
