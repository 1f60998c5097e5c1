import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { timeLimit } from '../../test/time-limit.ts'
import { browse } from './announcements.ts'
import { type DnsRecord, encodeQuestion, parseRecords, toServices } from './dns-sd.ts'

// A response with name compression, written by hand according to RFC 1035 §4.1 and RFC 6763 §13.
const hex = (text: string) => Buffer.from(text.replace(/\s/g, ''), 'hex')
const label = (text: string) => Buffer.concat([Buffer.from([text.length]), Buffer.from(text)]).toString('hex')
const answer = hex(`
  0000 8400 0000 0001 0000 0003
  ${label('_ssc')} ${label('_udp')} ${label('local')} 00   000c 0001 00000e10 0009 ${label('EM-Lft')} c00c
  c027 0021 8001 00000078 000d 0000 0000 002d ${label('em6k')} c016
  c027 0010 8001 00000e10 0019 ${label('Model=EM6000')} ${label('txtvers=1')} 01 3d
  c042 0001 8001 00000078 0004 0a14010b`)

test('encodeQuestion requests PTR records of every type and unicast responses', () => {
  expect(encodeQuestion(['_ssc._udp', '_ssc._tcp'])).toEqual(
    hex(`0000 0000 0002 0000 0000 0000
      ${label('_ssc')} ${label('_udp')} ${label('local')} 00 000c 8001
      ${label('_ssc')} ${label('_tcp')} ${label('local')} 00 000c 8001`),
  )
})

describe('response', () => {
  test('is converted to services', () => {
    const services = toServices(parseRecords(answer), ['_ssc._udp', '_ssc._tcp'])
    expect(services).toEqual([
      {
        type: '_ssc._udp',
        instance: 'EM-Lft',
        port: 45,
        addresses: ['10.20.1.11'],
        text: { model: 'EM6000', txtvers: '1' },
      },
    ])
  })

  test('may consist of several messages, in any order, repeated, and without an address', () => {
    const records = parseRecords(answer)
    expect(toServices([...records.toReversed(), ...records], ['_ssc._udp'])).toHaveLength(1)
    expect(
      toServices(
        records.filter(({ type }) => type !== 'A'),
        ['_ssc._udp'],
      ),
    ).toEqual([])
    expect(
      toServices(
        records.filter(({ type }) => type !== 'SRV'),
        ['_ssc._udp'],
      ),
    ).toEqual([])
  })

  test('returns the valid records when it is truncated or has circular pointers', () => {
    const types = (records: readonly DnsRecord[]) => records.map(({ type }) => type)
    expect(types(parseRecords(answer.subarray(0, answer.length - 2)))).toEqual(['PTR', 'SRV', 'TXT'])
    expect(parseRecords(Buffer.alloc(0))).toEqual([])
    expect(parseRecords(hex('0000 8400 0000 0001 0000 0000 c00c 000c 0001 00000000 0000'))).toEqual([])
  })

  test('may be arbitrary bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(answer.length), (noise, index) => {
        parseRecords(Buffer.from(noise))
        parseRecords(Buffer.concat([answer.subarray(0, index), noise]))
      }),
    )
  })
})

/** Starts a responder that responds to each query twice, the first time with an invalid message. */
async function startResponder(onQuestion: (question: Buffer) => void) {
  const responder = createSocket('udp4')
  responder.on('message', (message, { port, address }) => {
    responder.send('no sense', port, address)
    responder.send(answer, port, address)
    onQuestion(message)
  })
  responder.bind(0, '127.0.0.1')
  await once(responder, 'listening')
  onTestFinished(() => void responder.close())
  const group = { address: '127.0.0.1', port: (responder.address() as AddressInfo).port }
  return { types: ['_ssc._udp'], group, from: ['127.0.0.1'] }
}

test('browse sends a query and collects the responses', async () => {
  const questions: Buffer[] = []
  const options = await startResponder((question) => questions.push(question))
  const services = await browse({ ...options, forMs: 200, signal: new AbortController().signal })
  expect(services).toMatchObject([{ port: 45, addresses: ['10.20.1.11'] }])
  expect(questions).toEqual([encodeQuestion(['_ssc._udp'])])
})

test('browse repeats the query until an abort and returns the services found so far', async () => {
  const stop = new AbortController()
  let questions = 0
  // The response to the first query has arrived before the second query is sent.
  const options = await startResponder(() => {
    questions += 1
    if (questions === 2) stop.abort()
  })
  const startedAt = performance.now()
  const services = await browse({ ...options, forMs: 15_000, signal: stop.signal })
  expect(services).toMatchObject([{ port: 45, addresses: ['10.20.1.11'] }])
  expect(performance.now() - startedAt).toBeLessThan(timeLimit(10_000))
  expect(await browse({ ...options, forMs: 15_000, signal: stop.signal })).toEqual([])
  expect(questions).toBe(2)
})
