/**
 * Finds words that the project avoids in code, comments, documents and pages, and sentences that are hard to read in
 * comments, messages and documents. For most words, live sound or software has a standard term, which `replacements`
 * suggests instead. Part of `npm run check`.
 */

import { execFileSync } from 'node:child_process'
import { readFileSync, realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { sentencePatterns } from './language/patterns.ts'
import { sentencesOf } from './language/sentences.ts'

/** Word or phrase (matched whole, in camelCase too, ignoring case) -> what to write instead. */
const replacements: Readonly<Record<string, string>> = {
  'told|tell|tells|telling': 'report, receive, publish, say which; "reading", "reported"',
  'heard|hear|hears|hearing': 'receive, monitor, subscribe; "received", "source"',
  'house|houses': 'installation, venue, Runtime',
  'door|doors': 'API, entry point, ingest',
  'mouth|mouths': 'source',
  'fares|fare': 'status',
  'heed|heeds|heeded': 'precedence, apply',
  intake: 'ingest, plan',
  'keeper|keepers': 'LeaseManager',
  tally: 'counters, metrics',
  roster: 'SourceRegistry',
  'breather|breathe|breath': 'yieldToEventLoop, time slice',
  turnstile: 'RequestThrottle, queue',
  'complaint|complaints|complain': 'problem, warning',
  unpolled: 'orphaned source, not polled',
  'mend|mends|mended|mending': 'fix, repair',
  'deed|deeds': 'edit, action',
  gear: 'equipment, hardware',
  'somebody|whoever|whom|everybody|anybody': 'a user, a process, a client: name the actor',
  'needs a hand|need a hand': 'needs attention',
  'that is none|which is none|where there is none': 'does not exist, is empty',
  'so many|so manyth': 'a number or a limit',
  'not a byte': 'no data',
  'has the word|the word of': 'takes precedence',
  courtesy: 'delay, grace period',
  'by itself|by themselves': 'automatically',
}

interface Exception {
  readonly file?: RegExp
  readonly text: RegExp
  readonly reason: string
}

/** Allowed uses of a listed word, each with the reason. */
const exceptions: readonly Exception[] = [
  { text: /front[- ]of[- ]house|house left|house right|house-?keeping/i, reason: 'standard terms' },
  { file: /storage\/meta\.ts$/, text: /'house'/, reason: 'a key in databases of 0.1.0' },
  { file: /migrations\//, text: /0009-large-houses/, reason: 'the name of an applied migration never changes' },
  { text: /\b(?:audio_heard|heard_on)\b/, reason: 'fields of the interface, which the contract names' },
]

/** The descriptions of the published interface, which do not change. Only comments are checked. */
const published = /^src\/contract\//

/** Documents that scripts write from texts in `src`. */
const generated = /^docs\/(?:websocket|hardware-fields)\.md$/

const excluded = [
  /(^|\/)package-lock\.json$/,
  /^test\/fixtures\//,
  /^scripts\/(check-language|language\/patterns)(\.test)?\.ts$/,
  /(^|\/)LICENSE$/,
  /\.(png|svg|pem|lock|gz)$/,
]

interface Finding {
  readonly file: string
  readonly line: number
  readonly found: string
  readonly instead: string
  readonly text: string
}

const patterns = Object.entries(replacements).map(([words, instead]) => ({
  pattern: new RegExp(`(?<![\\p{L}])(?:${words})(?![\\p{L}])`, 'iu'),
  instead,
}))

/** Returns the listed words in a file. */
export function findWords(file: string, content: string): Finding[] {
  return content.split('\n').flatMap((text, index) => {
    if (exceptions.some((exception) => exception.text.test(text) && (exception.file?.test(file) ?? true))) return []
    // Splits identifiers into words: `createTally` becomes `create Tally`, `TOLD_BY` becomes `TOLD BY`.
    const words = text.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').replace(/[_\d]+/g, ' ')
    return patterns.flatMap(({ pattern, instead }) => {
      const found = pattern.exec(words)?.[0]
      return found === undefined ? [] : [{ file, line: index + 1, found, instead, text: text.trim() }]
    })
  })
}

/** Returns the sentences in a file's comments, messages and paragraphs that a pattern matches. */
export function findSentences(file: string, content: string): Finding[] {
  return sentencesOf(file, content).flatMap(({ line, text, isMessage }) =>
    isMessage && published.test(file)
      ? []
      : sentencePatterns.flatMap(({ name, matches, instead }) =>
          matches(text) ? [{ file, line, found: name, instead, text }] : [],
        ),
  )
}

function main(paths: readonly string[]): void {
  const files = execFileSync('git', ['ls-files', ...paths], { encoding: 'utf8' })
    .split('\n')
    .filter((file) => file !== '' && !excluded.some((one) => one.test(file)))
  const findings = files.flatMap((file) => {
    const content = readFileSync(file, 'utf8')
    const words = findWords(file, content)
    return generated.test(file) ? words : [...words, ...findSentences(file, content)]
  })
  for (const { file, line, found, instead, text } of findings) {
    console.error(`${file}:${line}: "${found}" -> ${instead}\n    ${text.slice(0, 240)}`)
  }
  console.log(`${files.length} files, ${findings.length} findings`)
  if (findings.length > 0) process.exitCode = 1
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  main(process.argv.slice(2))
}
