/**
 * Writes docs/websocket.md from the message schemas, and the tables of alert kinds, settings and models in other documents. Run it
 * when they change: `tsx scripts/write-docs.ts`.
 */

import { readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { alertKinds, alertKindTable } from '../src/contract/alert-kinds.ts'
import * as version2 from '../src/contract/live-messages.ts'
import { clientMessages, serverMessages } from '../src/contract/messages.ts'
import {
  type SettingKey,
  type SettingKind,
  type SettingSubject,
  settingKeys,
  settingKinds,
} from '../src/contract/settings.ts'
import { fieldsOf, hoist, nameOf, type Schema, typeOf } from '../src/http/routes/json-schema.ts'
import { liveProtocol } from '../src/live/routes/client-messages.ts'
import { plugins } from '../src/manufacturers/index.ts'

/** Returns the documents that contain anything generated, by path. */
export function generateDocs(): Readonly<Record<string, string>> {
  return {
    'websocket.md': websocketDocs(),
    'hardware.md': withTable(read('hardware.md'), 'status of each model', modelStatusTable()),
    'interface.md': withTable(read('interface.md'), 'alert kinds', alertTable()),
    'configuration.md': settingTables.reduce(
      (text, subjects) => withTable(text, `settings: ${subjects.join(', ')}`, settingTable(subjects)),
      read('configuration.md'),
    ),
  }
}

const docs = new URL('../docs/', import.meta.url)

function read(name: string): string {
  return readFileSync(new URL(name, docs), 'utf8')
}

/** Replaces the table after the comment with this name. */
function withTable(text: string, name: string, rows: readonly string[]): string {
  const comment = `<!-- ${name}: written by scripts/write-docs.ts -->\n\n`
  const [before = '', after] = text.split(comment)
  if (after === undefined) throw new Error(`There is no comment ${comment}`)
  return `${before}${comment}${rows.join('\n')}\n\n${after.replace(/^(\|.*\n)+\n/, '')}`
}

function alertTable(): readonly string[] {
  const rows = alertKinds.map((kind) => {
    const { severity, delaySeconds, raisedWhen = `a channel has the condition \`${kind}\`` } = alertKindTable[kind]
    return `| \`${kind}\` | ${severity} | ${delaySeconds} s | ${raisedWhen} |`
  })
  return ['| Kind | Severity | Delay | Raised when |', '| --- | --- | --- | --- |', ...rows]
}

function modelStatusTable(): readonly string[] {
  const rows = plugins.flatMap(({ name, modelStatus = [] }) =>
    modelStatus.map((row) => {
      const values = row.values.length === 0 ? '–' : row.values.join(', ')
      const cells = [name, row.model, row.firmware ?? 'any', row.status, row.date, row.source, values]
      return `| ${cells.join(' | ')} |`
    }),
  )
  return [
    '| Manufacturer | Model | Firmware | Status | Date | Source | Values |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...rows,
  ]
}

/** Each list of subjects has a table. */
const settingTables: readonly (readonly SettingSubject[])[] = [
  ['polling', 'battery', 'rf', 'audio', 'alerts'],
  ['history'],
  ['identify'],
  ['listening'],
  ['documents'],
]

function settingTable(subjects: readonly SettingSubject[]): readonly string[] {
  const rows = subjects.flatMap((subject) => {
    const keys = settingKeys.filter((key) => settingKinds[key].subject === subject)
    return subject === 'alerts' ? alertSettingRows() : keys.map((key) => settingRow(key, settingKinds[key]))
  })
  return ['| Setting | Default | Meaning |', '| --- | --- | --- |', ...rows]
}

/** One row for all kinds. */
function alertSettingRows(): readonly string[] {
  const [kind] = alertKinds
  if (kind === undefined) return []
  return (['enabled', 'delay_seconds', 'severity'] as const).map((aspect) => {
    const key = `alert_${kind}_${aspect}` as const
    return settingRow(key, settingKinds[key], '[by kind](interface.md#alerts)').replaceAll(kind, '<kind>')
  })
}

function settingRow(key: SettingKey, kind: SettingKind, by = defaultTexts[key] ?? defaultOf(kind)): string {
  const number = (value: number) => value.toLocaleString('en', { maximumFractionDigits: 5 })
  const values =
    kind.type === 'choice'
      ? ` ${kind.values.map((value) => `\`${value}\``).join(', ')}.`
      : kind.type === 'integer' || kind.type === 'decimal'
        ? ` ${number(kind.min)} to ${number(kind.max)}.`
        : ''
  return `| \`${key}\` | ${by} | ${kind.description}${values} |`
}

/** Defaults that are not a constant. */
const defaultTexts: Readonly<Partial<Record<SettingKey, string>>> = {
  polling_interval: '`DEFAULT_POLLING_INTERVAL`',
  TIME_ZONE: 'that of the host',
  PAPER: '`A4`; `Letter` if `REGION` is `US`',
}

function defaultOf({ default: value }: SettingKind): string {
  return value === '' ? 'none' : `\`${value}\``
}

function websocketDocs(): string {
  const schemas: Record<string, Schema> = {}
  const namesOf = (messages: readonly object[]) => messages.map((message) => nameOf(hoist(message, schemas)) ?? '')
  const fromServer = namesOf(serverMessages)
  const fromClient = namesOf(clientMessages)
  const toSection2 = ({ title, ...message }: Titled) => describe(`${title} (version 2)`, hoist(message, schemas))
  const fromServer2 = version2.serverMessages.map((message) => toSection2(toTitled(message)))
  const fromClient2 = version2.clientMessages.map((message) => toSection2(toTitled(message)))
  const records = Object.keys(schemas).filter((name) => !fromServer.includes(name) && !fromClient.includes(name))
  const section = (name: string) => describe(name, schemas[name] ?? {})
  return [
    '# The WebSocket',
    '<!-- Generated by scripts/write-docs.ts from src/contract/messages.ts. Do not edit this file. -->',
    introduction,
    '## Messages from the service',
    ...fromServer.map(section),
    '## Messages from a client',
    ...fromClient.map(section),
    '## Version 2',
    introduction2,
    '## Messages from the service, version 2',
    ...fromServer2,
    '## Messages from a client, version 2',
    ...fromClient2,
    '## Records',
    ...records.sort().map(section),
    ending,
  ].join('\n\n')
}

const introduction = [
  'Connect to `/ws` or `/ws/<name>/`. The name does not matter: every client receives the same messages. With a mount prefix, both paths work with and without it. With `?manufacturer=<code>`, messages about other manufacturers are omitted. The WebSocket needs the same permission as reading. If the service only listens on this machine or has `public_read: true`, no credentials are needed. Otherwise, send a session cookie or `Authorization: Bearer <token>`.',
  'Every message is a JSON object in a text frame and has a `type`. The first message is a `status`. The binary subprotocol `micwatch.levels.v1` of Micwatch 0.1.0 no longer exists. Until Micwatch 2.0, clients that offer it are accepted and receive these JSON messages instead. Later versions may add fields and message types; ignore those that you do not know.',
].join('\n\n')

const introduction2 = `A client that offers the subprotocol \`${liveProtocol}\` (\`Sec-WebSocket-Protocol: ${liveProtocol}\`) or connects to \`/ws?protocol=2\` is sent everything first, as a \`snapshot\`, and after that one message for each change. \`GET /api/asyncapi.json\` describes the messages of both versions for programs.

| Parameter | Meaning |
| --- | --- |
| \`manufacturer\` | Code of a manufacturer, to receive only what \`GET /api/data.json?manufacturer=\` contains. |
| \`group\` | Id of a group, to receive only the channels whose slot is in it, and their receivers. When its members change, a new \`snapshot\` is sent. |
| \`levels\` | \`false\`: no levels; \`full\`: also the levels of the antennas and the audio peak. With \`ack=1\`, the message \`select_levels\` changes it on the open connection. |
| \`since\`, \`epoch\` | The \`seq\` of the last message that was received and the \`epoch\` of the snapshot, to resume an interrupted connection: the first message is then \`resumed\`, and the missed messages follow. If they are no longer kept, the service was restarted or the filters differ, a \`snapshot\` is sent instead. |
| \`ack\` | \`1\`: the client answers each \`levels\` message with an \`ack\`, and is sent the next only then. A slow connection is so sent fewer levels, but never old ones. |

- \`seq\` rises by one with each message. With a filter, numbers are missing. \`resumed\`, \`tick\`, \`status\`, \`pong\` and \`error\` have no number of their own.
- In \`receiver\` and \`channel\`, only fields that changed are present. Nested objects are complete. A field that is gone is null.
- \`groups\`, \`performers\`, \`assignments\` and \`discovered\` contain the whole list.
- Messages are kept for 60 seconds or until 10,000 newer ones exist, whichever is longer, up to 64 MB.
- A client that reads too slowly is sent a new \`snapshot\` in place of what it missed, as soon as it reads again. After 30 seconds without progress the connection is closed.
- While real-time updates of a manufacturer are disabled, nothing is sent about it; when they are enabled again, a new \`snapshot\` is sent.`

interface Titled extends Schema {
  readonly title?: string
}

function toTitled(message: object): Titled {
  return JSON.parse(JSON.stringify(message))
}

const ending = `## How a connection ends

| Code | Reason |
| --- | --- |
| 1001 | The service is stopping, or real-time updates are disabled. |
| 1003 | The client sent a binary frame. |
| 1008 | The client sent more than 20 messages a second (100 at once), or 20 invalid messages in a minute. |
| 1009 | The client sent a frame of more than 64 KiB. |
| 1013 | The client reads too slowly. |
| 4401 | The session or token that opened the connection has expired or was revoked. |

The service sends a protocol ping every 20 seconds and disconnects a client that does not respond to it. While real-time updates are disabled, it rejects new connections with 503.
`

function describe(name: string, schema: Schema): string {
  const rows = fieldsOf(schema).map(({ name: field, isOptional, schema: fieldSchema }) => {
    const { description = '' } = fieldSchema
    const cells = [`\`${field}\`${isOptional ? ' (optional)' : ''}`, typeOf(fieldSchema, link), description]
    return `| ${cells.join(' | ').trimEnd()} |`
  })
  const [example] = schema.examples ?? []
  return [
    `### ${name}`,
    schema.description ?? '',
    ['| Field | Type | Meaning |', '| --- | --- | --- |', ...rows].join('\n'),
    ...(example === undefined ? [] : [`\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\``]),
  ].join('\n\n')
}

function link(name: string): string {
  return `[${name}](#${name.toLowerCase()})`
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  for (const [name, text] of Object.entries(generateDocs())) writeFileSync(new URL(name, docs), text)
}
