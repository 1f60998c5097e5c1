/**
 * Finds words that the project avoids in code, comments, documents and pages. For most of them, live sound or software
 * has a standard term, which `replacements` suggests instead. Part of `npm run check`.
 */

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

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
  {
    text: /'house\.(import)?'|action=house\.|'store\.mend'/,
    reason: 'audit actions, which databases of 0.1.0 contain',
  },
  { file: /installation-id\.ts$/, text: /'house'/, reason: 'a key in databases of 0.1.0' },
  { file: /migrations\//, text: /0009-large-houses/, reason: 'the name of an applied migration never changes' },
  { file: /leaked-passwords\.ts$/, text: /./, reason: 'passwords, and the license of their source' },
  { file: /simulation\/levels\.ts$/, text: /breath/, reason: 'performers breathe' },
  { text: /\baudio_heard\b/, reason: 'a field of the interface, which the contract names' },
]

const excluded = [
  /(^|\/)package-lock\.json$/,
  /^test\/fixtures\//,
  /^scripts\/check-language\.ts$/,
  /(^|\/)LICENSE$/,
  /\.(png|svg|pem|lock|gz)$/,
]

interface Finding {
  readonly file: string
  readonly line: number
  readonly word: string
  readonly instead: string
  readonly text: string
}

const patterns = Object.entries(replacements).map(([words, instead]) => ({
  pattern: new RegExp(`(?<![\\p{L}])(?:${words})(?![\\p{L}])`, 'iu'),
  instead,
}))

function find(file: string): Finding[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((text, index) => {
      if (exceptions.some((exception) => exception.text.test(text) && (exception.file?.test(file) ?? true))) return []
      // Splits identifiers into words: `createTally` becomes `create Tally`, `TOLD_BY` becomes `TOLD BY`.
      const words = text.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').replace(/[_\d]+/g, ' ')
      return patterns.flatMap(({ pattern, instead }) => {
        const word = pattern.exec(words)?.[0]
        return word === undefined ? [] : [{ file, line: index + 1, word, instead, text: text.trim() }]
      })
    })
}

const files = execFileSync('git', ['ls-files', ...process.argv.slice(2)], { encoding: 'utf8' }).split('\n')
const findings = files.filter((file) => file !== '' && !excluded.some((one) => one.test(file))).flatMap(find)
for (const { file, line, word, instead, text } of findings) {
  console.error(`${file}:${line}: "${word}" -> ${instead}\n    ${text.slice(0, 140)}`)
}
console.log(`${files.length} files, ${findings.length} words to replace`)
if (findings.length > 0) process.exitCode = 1
