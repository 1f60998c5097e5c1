/** Calls every operation, and sends every message, with what its description allows and forbids. */

import { describe, expect, it } from 'vitest'
import type { AsyncApi } from '../src/http/routes/asyncapi-document.ts'
import { startApp } from './support/app.ts'
import type { HttpResponse } from './support/http-client.ts'
import {
  addressOf,
  createInputs,
  type Input,
  type Operation,
  operationsOf,
  type Service,
  startService,
} from './support/operation-inputs.ts'
import { csvFile } from './support/scan-files.ts'
import { type Schema, valuesOf } from './support/schema-values.ts'

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/**
 * These need the session of a user, a provider for single sign-on, a receiver that scans, or a muted channel; other
 * tests have them.
 */
const failing = [
  ...['changePassword', 'startOidcLogin', 'finishOidcLogin', 'listOwnSessions', 'endOwnSession'],
  ...['setUpTotp', 'confirmTotp', 'removeTotp'],
  ...['startReceiverScan', 'stopReceiverScan'],
  'markMutedOnPurpose',
]

/** The files of operations that take no scan. */
const files: Readonly<Record<string, string>> = {
  importTvStations: 'channel,latitude,longitude,erp_kw,name\n33,52.5,13.4,100,Alexanderplatz\n',
  importCoordination: [
    'RF zone: Default',
    'Primary frequencies (1)',
    'Type,Band,Channel name,Group & Channel,Frequency,',
    'AD/Standard,G55,Nora,G:-- Ch:--,470.125 MHz,',
  ].join('\n'),
}

/** Encodes a body in the media type that the operation takes. */
async function encode({ operationId, requestBody, body: schema }: Operation, body: unknown) {
  const isJson = schema !== undefined
  if (isJson) return body === undefined ? {} : { type: 'application/json', bytes: Buffer.from(JSON.stringify(body)) }
  const [type = ''] = Object.keys(requestBody?.content ?? {})
  if (type.startsWith('image/')) return { type, bytes: png }
  if (type !== 'multipart/form-data') return {}
  const form = new FormData()
  form.append('file', new Blob([files[operationId] ?? csvFile()]), 'hall.csv')
  const encoded = new Response(form)
  return { type: encoded.headers.get('content-type') ?? '', bytes: Buffer.from(await encoded.arrayBuffer()) }
}

/** Returns the inputs that differ from the working one in the body or in one parameter. */
function variantsOf({ parameters, body }: Operation, working: Input) {
  const bodies = body === undefined ? { allowed: [], forbidden: [] } : valuesOf(body)
  const withBody = (value: unknown): Input => ({ ...working, body: value })
  const inputs = parameters.map(({ name, in: place, schema }) => {
    const { allowed, forbidden } = valuesOf(schema as Schema)
    // An empty parameter is one without a value, and a number is a text in the address.
    const isText = (value: unknown) => typeof value !== 'object' && value !== ''
    const isForbiddenText = (value: unknown) => isText(value) && (schema.type !== 'string' || typeof value === 'string')
    const withValue = (value: unknown): Input =>
      place === 'path'
        ? { ...working, id: String(value) }
        : { ...working, query: { ...working.query, [name]: String(value) } }
    return {
      allowed: allowed.filter(isText).map(withValue),
      forbidden: forbidden.filter(isForbiddenText).map(withValue),
    }
  })
  return {
    allowed: [...bodies.allowed.map(withBody), ...inputs.flatMap(({ allowed }) => allowed)],
    forbidden: [...bodies.forbidden.map(withBody), ...inputs.flatMap(({ forbidden }) => forbidden)],
  }
}

type Texts = Readonly<Record<string, string>>

/** Returns headers that the server refuses for an operation, and the status. */
const refusedHeaders = ({ security, body }: Operation): readonly (readonly [status: number, headers: Texts])[] => [
  [400, { upgrade: 'websocket', connection: 'upgrade' }],
  [421, { host: 'elsewhere.example' }],
  [421, { host: 'elsewhere.example', accept: 'text/html' }],
  [431, { filler: 'x'.repeat(16_384) }],
  ...(security.length === 0 ? [] : [[401, { authorization: 'Bearer wrong' }] as const]),
  ...(body === undefined ? [] : [[415, { 'content-type': 'text/plain' }] as const]),
]

/** Returns a function that sends a request and reports a response that differs from the description. */
function createCaller(service: Service, problems: string[]) {
  return async (operation: Operation, input: Input, more: Texts = {}) => {
    const { type, bytes } = await encode(operation, input.body)
    const address = await addressOf(service, operation.path, input)
    const headers = { ...service.headers, ...(type !== undefined && { 'content-type': type }), ...more }
    const report = (problem: string) =>
      problems.push(`${operation.operationId} ${address.slice(0, 200)} ${bytes?.subarray(0, 300) ?? ''}: ${problem}`)
    try {
      const response = await service.app.send(operation.method, address, { headers, ...(bytes && { body: bytes }) })
      const { status } = response
      if (operation.responses[status] === undefined) report(`${status} is not described`)
      return { response, report }
    } catch (error) {
      report(String(error))
      return null
    }
  }
}

async function callAll(service: Service, operations: readonly Operation[]): Promise<string[]> {
  const problems: string[] = []
  const call = createCaller(service, problems)
  const inputOf = createInputs(service)
  const expectStatus = async (called: ReturnType<typeof call>, isExpected: (status: number) => boolean) => {
    const result = await called
    const response: HttpResponse | undefined = result?.response
    if (response !== undefined && !isExpected(response.status))
      result?.report(`${response.status} ${response.bytes.subarray(0, 300)}`)
  }
  for (const operation of operations) {
    const working = await inputOf(operation)
    for (const [expected, headers] of refusedHeaders(operation))
      await expectStatus(call(operation, working, headers), (status) => status === expected)
    const tooLong = { ...working, query: { ...working.query, filler: 'x'.repeat(8192) } }
    await expectStatus(call(operation, tooLong), (status) => status === 414)
    const fails = failing.includes(operation.operationId)
    await expectStatus(call(operation, working), (status) => status >= 400 === fails)
    const { allowed, forbidden } = variantsOf(operation, working)
    for (const input of allowed) await expectStatus(call(operation, input), (status) => status !== 500)
    for (const input of forbidden) {
      // A text that is too long for its field may also be too long for the body.
      await expectStatus(call(operation, input), (status) => status === 400 || status === 413)
    }
  }
  return problems
}

describe('input that the description', () => {
  it('allows or forbids for an operation leads to described responses and messages', async () => {
    const service = await startService()
    const { app, headers } = service
    const sockets = [await app.socket('/ws'), await app.socket('/ws?protocol=2&levels=full')]
    const operations = operationsOf((await app.get('/api/openapi.json', headers)).json)
    expect(await callAll(service, operations)).toEqual([])
    for (const socket of sockets) {
      await socket.receiveAll()
      for (const type of ['alert', 'event']) expect(socket.ofType(type).length, type).toBeGreaterThan(0)
    }
  })

  // Conformance: C-9b.15.
  it.each(['v1', 'v2'])('allows or forbids for a client message is accepted or refused (%s)', async (version) => {
    const app = await startApp()
    const document: AsyncApi = (await app.get('/api/asyncapi.json')).json
    const { messages } = document.operations[`${version}_receive`] as { messages: readonly { $ref: string }[] }
    for (const { $ref } of messages) {
      const name = `${version}_${$ref.split('/').at(-1)}`
      const { allowed, forbidden } = valuesOf(document.components.messages[name]?.payload as Schema)
      // One socket for each type, because a client that sends many invalid messages is disconnected.
      const socket = await app.socket(version === 'v1' ? '/ws' : '/ws?protocol=2&ack=1')
      const send = async (values: readonly unknown[]) => {
        for (const value of values) socket.send(value)
        socket.send({ type: 'ping', id: values })
        await socket.next(({ type, id }) => type === 'pong' && JSON.stringify(id) === JSON.stringify(values))
        return socket.ofType('error')
      }
      expect(await send(allowed), name).toEqual([])
      expect(await send(forbidden), name).toHaveLength(forbidden.length)
    }
  })
})
