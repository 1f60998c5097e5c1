/** Writes docs/websocket.md from the schemas of the messages. Run it when they change: `tsx scripts/write-websocket-docs.ts`. */

import { realpathSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { fieldsOf, hoist, nameOf, type Schema, typeOf } from '../src/http/json-schema.ts'
import { clientMessages, serverMessages } from '../src/http/message-schemas.ts'
import { levelNames, levelsProtocol } from '../src/model/level-records.ts'

const path = fileURLToPath(new URL('../docs/websocket.md', import.meta.url))

export function websocketDocs(): string {
  const schemas: Record<string, Schema> = {}
  const namesOf = (messages: readonly object[]) => messages.map((one) => nameOf(hoist(one, schemas)) ?? '')
  const fromServer = namesOf(serverMessages)
  const fromClient = namesOf(clientMessages)
  const records = Object.keys(schemas).filter((name) => !fromServer.includes(name) && !fromClient.includes(name))
  const section = (name: string) => describe(name, schemas[name] ?? {})
  return [
    '# The WebSocket',
    '<!-- Written by scripts/write-websocket-docs.ts from src/http/message-schemas.ts: change those. -->',
    introduction,
    '## What the service says',
    ...fromServer.map(section),
    '## What a client may say',
    ...fromClient.map(section),
    '## Records',
    ...records.sort().map(section),
    levels,
    ending,
  ].join('\n\n')
}

const introduction = [
  'Connect to `/ws` or `/ws/<name>/`; whatever the name, it is the same feed. With a mount prefix both answer under it as well. `?manufacturer=<code>` leaves out what is about other manufacturers. Who may connect is who may read: a listener on this machine alone asks for no credentials, any other for a session cookie or `Authorization: Bearer <token>`.',
  'Messages are JSON text frames (levels in fewer bytes for [whoever asks](#levels-in-few-bytes-micwatchlevelsv1)), and each has a `type`. The first frame is a `status`. Fields and types not named here may be added: leave aside what you do not know.',
].join('\n\n')

const listed = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ')
const levelOrder = `${listed(levelNames.channel)} of the channel; ${listed(levelNames.details)} of its \`details\`; ${listed(levelNames.transmitter)} of its \`transmitter\``

const levels = `## Levels in few bytes: \`${levelsProtocol}\`

A client that offers this subprotocol (\`Sec-WebSocket-Protocol: ${levelsProtocol}\`) hears the same in about a thirtieth of the bytes; everybody else hears JSON alone. The service agrees to it wherever it is among those that are offered.

Everything above stays as it is, but for the \`device_update\` of a receiver that this connection has been told of before, when since then nothing has changed but levels. Such updates are said in binary frames. A frame holds one record or several, one behind the other:

| Bytes | Type | Meaning |
| ---: | --- | --- |
| 4 | uint32, big-endian | \`receiver_id\` |
| 2 | uint16, big-endian | How many bytes follow. |
| 1 each | int8 | Every level that the last JSON \`device_update\` of this receiver had, in its order of channels: ${levelOrder}. |

A level which that \`device_update\` did not have has no byte, and neither has a transmitter that is not there. -128 is null; \`antennas\` is a sum of A 1, B 2, C 4 and D 8. Everything else a channel has, it has as that last \`device_update\` told. Levels are told as they are and not as differences, and what no record can say (a level beyond ±127, another name, a transmitter that comes or goes) comes as JSON. A client that meets a record of a receiver it was not told of leaves it aside.`

const ending = `## How a connection ends

| Code | Reason |
| --- | --- |
| 1001 | The service is stopping, or real-time updates are disabled. |
| 1003 | The client sent a binary frame. |
| 1008 | The client sent more than 20 messages a second (100 at once), or 20 in a minute that mean nothing. |
| 1009 | The client sent a frame of more than 64 KiB. |
| 1013 | The client reads too slowly. |
| 4401 | The session or token that opened the connection has ended. |

A client that answers no protocol ping is cut. An upgrade while real-time updates are disabled is refused with 503.
`

function describe(name: string, schema: Schema): string {
  const rows = fieldsOf(schema).map(({ name: field, isOptional, schema: one }) => {
    const cells = [`\`${field}\`${isOptional ? ' (optional)' : ''}`, typeOf(one, link), one.description ?? '']
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
  writeFileSync(path, websocketDocs())
  console.log(`Wrote ${path}`)
}
