import fc from 'fast-check'
import { expect, test } from 'vitest'
import { attributeReply, shureAttributes } from '../../test/support/plugins/slp-beacon.ts'
import { parseAttributeReply } from './slp.ts'

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
