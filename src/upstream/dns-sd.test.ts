import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { eventually } from '../../test/support/eventually.ts'
import { attributeReply, shureAttributes } from '../../test/support/plugins/slp-beacon.ts'
import { timeLimit } from '../../test/support/time-limit.ts'
import { browse } from './announcements.ts'
import { type DnsRecord, parseAttributeReply, toServices } from './dns-sd.ts'

// A response with name compression, written by hand according to RFC 1035 §4.1 and RFC 6763 §13.
const hex = (text: string) => Buffer.from(text.replace(/\s/g, ''), 'hex')
const label = (text: string) => Buffer.concat([Buffer.from([text.length]), Buffer.from(text)]).toString('hex')
const answer = hex(`
  0000 8400 0000 0001 0000 0003
  ${label('_ssc')} ${label('_udp')} ${label('local')} 00   000c 0001 00000e10 0009 ${label('EM-Lft')} c00c
  c027 0021 8001 00000078 000d 0000 0000 002d ${label('em6k')} c016
  c027 0010 8001 00000e10 0019 ${label('Model=EM6000')} ${label('txtvers=1')} 01 3d
  c042 0001 8001 00000078 0004 0a14010b`)

const records: readonly DnsRecord[] = [
  { type: 'PTR', name: '_ssc._udp.local', data: 'EM-Lft._ssc._udp.local' },
  { type: 'SRV', name: 'EM-Lft._ssc._udp.local', data: { port: 45, target: 'em6k.local' } },
  { type: 'TXT', name: 'EM-Lft._ssc._udp.local', data: ['Model=EM6000', 'txtvers=1', 'model=other', '='] },
  { type: 'A', name: 'em6k.local', data: '10.20.1.11' },
]

describe('toServices', () => {
  const service = {
    type: '_ssc._udp',
    instance: 'EM-Lft',
    port: 45,
    addresses: ['10.20.1.11'],
    text: { model: 'EM6000', txtvers: '1' },
  }

  test('assembles a service from its records, in any order and repeated', () => {
    expect(toServices(records, ['_ssc._udp', '_ssc._tcp'])).toEqual([service])
    expect(toServices([...records.toReversed(), ...records], ['_ssc._udp'])).toEqual([service])
  })

  test('compares names without regard to case', () => {
    const upper = records.map((record) => ({ ...record, name: record.name.toUpperCase() }))
    expect(toServices(upper, ['_ssc._udp'])).toEqual([service])
  })

  test.each(['A', 'SRV', 'PTR'])('ignores a service without a record of type %s', (type) => {
    const others = records.filter((record) => record.type !== type)
    expect(toServices(others, ['_ssc._udp'])).toEqual([])
  })
})

async function startResponder(onQuestion: (question: Buffer) => void, messages: readonly Uint8Array[] = [answer]) {
  const responder = createSocket('udp4')
  responder.on('message', (message, { port, address }) => {
    for (const reply of messages) responder.send(reply, port, address)
    onQuestion(message)
  })
  responder.bind(0, '127.0.0.1')
  await once(responder, 'listening')
  onTestFinished(() => void responder.close())
  const group = { address: '127.0.0.1', port: (responder.address() as AddressInfo).port }
  const from = [{ interfaceName: 'lo', address: '127.0.0.1', cidr: '127.0.0.1/8' }]
  return { types: ['_ssc._udp'], group, from }
}

test('browse sends a query and collects the responses', async () => {
  const questions: Buffer[] = []
  const options = await startResponder((question) => questions.push(question))
  const services = () => browse({ ...options, forMs: 1_000, signal: new AbortController().signal })
  // On a busy machine, a response may arrive after the end.
  await eventually(services).toMatchObject([{ port: 45, addresses: ['10.20.1.11'] }])
  const question = hex(`0000 0000 0001 0000 0000 0000 ${label('_ssc')} ${label('_udp')} ${label('local')} 00 000c 0001`)
  for (const asked of questions) expect(asked).toEqual(question)
})

test('browse ignores messages that cannot be decoded', async () => {
  const circular = hex('0000 8400 0000 0001 0000 0000 c00c 000c 0001 00000000 0000')
  const noise = fc.sample(fc.uint8Array({ maxLength: 300 }), 50)
  const cutAndContinued = fc.sample(fc.tuple(fc.nat(answer.length), fc.uint8Array({ maxLength: 100 })), 50)
  const broken = cutAndContinued.map(([end, bytes]) => Buffer.concat([answer.subarray(0, end), bytes]))
  const options = await startResponder(() => {}, [circular, Buffer.alloc(0), ...noise, ...broken, answer])
  const services = () => browse({ ...options, forMs: 500, signal: new AbortController().signal })
  await eventually(services).toContainEqual(expect.objectContaining({ instance: 'EM-Lft', port: 45 }))
})

test('browse repeats the query until an abort and returns the services found so far', async () => {
  const stop = new AbortController()
  let questions = 0
  // The response to the first query has arrived before the third query is sent.
  const options = await startResponder(() => {
    questions += 1
    if (questions === 3) stop.abort()
  })
  const startedAt = performance.now()
  const services = await browse({ ...options, forMs: 15_000, signal: stop.signal })
  expect(services).toMatchObject([{ port: 45, addresses: ['10.20.1.11'] }])
  expect(performance.now() - startedAt).toBeLessThan(timeLimit(10_000))
  expect(await browse({ ...options, forMs: 15_000, signal: stop.signal })).toEqual([])
  expect(questions).toBe(3)
})

const reply = attributeReply(shureAttributes())

test('reads the attributes of a reply by name', () => {
  expect(parseAttributeReply(reply)).toEqual({
    cid: 'DD47E0D7-0000-11DD-A000-000EDDCCCCCC',
    'acn-fctn': 'QLXD4',
    'acn-uacn': 'Vox 1',
    'acn-services': 'esta.dmp',
    'csl-esta.dmp': 'esta.sdt/127.0.0.1:57383;esta.dmp/cd:CCEAC054-E139-11DF-84BA-0015C5F3F612',
    'device-description': '$:tftp://127.0.0.1/$.ddl',
  })
})

test('decodes escapes, skips keywords, and uses the first attribute of a name', () => {
  const text = '(A=left \\28front\\29),keyword,(b=),(a=again),(__proto__=x)'
  expect({ ...parseAttributeReply(attributeReply(text)) }).toEqual({ a: 'left (front)', b: '', ['__proto__']: 'x' })
})

test('returns null for another message type, an error, or a wrong length', () => {
  const request = Buffer.from(reply)
  request[1] = 6
  const old = Buffer.from(reply)
  old[0] = 1
  const wrong = [request, old, attributeReply('(a=b)', 2), Buffer.concat([reply, Buffer.from(' ')]), Buffer.alloc(0)]
  for (let length = 0; length < reply.length; length += 1) wrong.push(reply.subarray(0, length))
  for (const datagram of wrong) expect(parseAttributeReply(datagram)).toBeNull()
})

test('handles arbitrary bytes and limits the number of attributes', () => {
  const change = fc.tuple(fc.nat(reply.length - 1), fc.nat(255))
  fc.assert(
    fc.property(fc.array(change, { maxLength: 6 }), fc.uint8Array({ maxLength: 300 }), (changes, noise) => {
      const datagram = Buffer.from(reply)
      for (const [index, byte] of changes) datagram[index] = byte
      expect(Object.keys(parseAttributeReply(datagram) ?? {}).length).toBeLessThanOrEqual(6)
      parseAttributeReply(Buffer.from(noise))
    }),
  )
  const many = Array.from({ length: 4_000 }, (_, index) => `(k${index}=v)`).join(',')
  expect(Object.keys(parseAttributeReply(attributeReply(many)) ?? {})).toHaveLength(50)
  expect(parseAttributeReply(attributeReply('('.repeat(60_000)))).toEqual({})
})
