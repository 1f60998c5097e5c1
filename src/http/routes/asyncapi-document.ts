/** Builds the AsyncAPI document of the WebSocket from the schemas of its messages, for both versions. */

import type { TSchema } from 'typebox'
import * as v2 from '../../contract/live-messages.ts'
import { LiveQuery, SocketQuery } from '../../contract/live-messages.ts'
import * as v1 from '../../contract/messages.ts'
import { liveProtocol } from '../../live/routes/client-messages.ts'
import { hoist, type Schema } from './json-schema.ts'
import type { DocumentOptions } from './openapi-document.ts'

interface Message {
  readonly name: string
  readonly title: string
  readonly summary: string
  readonly contentType: string
  readonly payload: Schema
  readonly examples?: readonly { readonly payload: unknown }[]
}

interface Reference {
  readonly $ref: string
}

export interface AsyncApi {
  readonly asyncapi: string
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly defaultContentType: string
  readonly channels: Readonly<Record<string, { readonly messages: Readonly<Record<string, Reference>> }>>
  readonly operations: Readonly<Record<string, object>>
  readonly components: {
    readonly messages: Readonly<Record<string, Message>>
    readonly schemas: Readonly<Record<string, Schema>>
  }
}

/** The messages of one version. */
interface Version {
  readonly name: 'v1' | 'v2'
  readonly description: string
  readonly fromServer: readonly TSchema[]
  readonly fromClient: readonly TSchema[]
  /** The query parameters of the connection, with their descriptions. */
  readonly query: Readonly<Record<string, object>>
}

const versions: readonly Version[] = [
  {
    name: 'v1',
    description: 'Version 1, for clients that do not request version 2. The first message is a `status`.',
    fromServer: v1.serverMessages,
    fromClient: v1.clientMessages,
    query: { manufacturer: SocketQuery.properties.manufacturer, site: SocketQuery.properties.site },
  },
  {
    name: 'v2',
    description: `Version 2, for clients that offer the subprotocol \`${liveProtocol}\` or connect with \`protocol=2\`. The first message is a \`snapshot\` or \`resumed\`.`,
    fromServer: v2.serverMessages,
    fromClient: v2.clientMessages,
    query: LiveQuery.properties,
  },
]

export function createAsyncApi({ mount, version }: DocumentOptions): AsyncApi {
  const schemas: Record<string, Schema> = {}
  const messages: Record<string, Message> = {}
  const channels: Record<string, { readonly messages: Readonly<Record<string, Reference>> }> = {}
  const operations: Record<string, object> = {}
  for (const { name, description, fromServer, fromClient, query } of versions) {
    const add = (schema: TSchema) => {
      const message = toMessage(schema, schemas)
      const key = `${name}_${message.name}`
      messages[key] = message
      return [message.name, key] as const
    }
    const [sent, received] = [fromServer.map(add), fromClient.map(add)]
    channels[name] = {
      ...{ address: `${mount}/ws`, title: `WebSocket, version ${name.slice(1)}`, description },
      messages: Object.fromEntries(
        [...sent, ...received].map(([message, key]) => [message, { $ref: `#/components/messages/${key}` }]),
      ),
      ...{ bindings: { ws: { method: 'GET', query: { type: 'object', properties: query } } } },
    }
    const operation = (action: 'send' | 'receive', names: readonly (readonly [string, string])[]) => ({
      action,
      channel: { $ref: `#/channels/${name}` },
      messages: names.map(([message]) => ({ $ref: `#/channels/${name}/messages/${message}` })),
    })
    operations[`${name}_send`] = operation('send', sent)
    operations[`${name}_receive`] = operation('receive', received)
  }
  return {
    asyncapi: '3.1.0',
    info: { title: 'Micwatch', version, description: 'Real-time updates over the WebSocket.' },
    defaultContentType: 'application/json',
    channels,
    operations,
    components: { messages, schemas },
  }
}

/** Converts a message schema. The named schemas in it become components. */
function toMessage(schema: TSchema, schemas: Record<string, Schema>): Message {
  const { title = '', description = '', examples, ...payload } = JSON.parse(JSON.stringify(schema)) as Titled
  return {
    name: title,
    title,
    summary: description,
    contentType: 'application/json',
    payload: hoist(payload, schemas),
    ...(examples && { examples: examples.map((example) => ({ payload: example })) }),
  }
}

interface Titled extends Schema {
  readonly title?: string
}
