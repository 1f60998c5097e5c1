import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { readBytes } from './response-body.ts'

const read = (parts: readonly string[], spare?: Buffer) =>
  readBytes(Readable.from(parts.map((part) => Buffer.from(part))), undefined, spare)

test.each([[[]], [['a']], [['first', ' and a longer second ', 'part']]])('joins the parts %j', async (parts) => {
  expect(String(await read(parts))).toBe(parts.join(''))
})

test('stores a body in the memory of an earlier one if it fits', async () => {
  const earlier = await read(['0123', '456789'])
  const shorter = await read(['abc', 'de'], earlier)
  expect(String(shorter)).toBe('abcde')
  expect(shorter.buffer).toBe(earlier.buffer)
  const asLong = await read(['ABCDE', 'FGHIJ'], shorter)
  expect(String(asLong)).toBe('ABCDEFGHIJ')
  expect(asLong.buffer).toBe(earlier.buffer)
  const longer = await read(['x'.repeat(100)], asLong)
  expect(String(longer)).toBe('x'.repeat(100))
  expect(longer.buffer).not.toBe(earlier.buffer)
})

test('refuses a body of more than 16 MB', async () => {
  const part = 'x'.repeat(1024 * 1024)
  await expect(read([...Array<string>(16).fill(part), '!'])).rejects.toThrow('body too large')
  expect(await read(Array<string>(16).fill(part))).toHaveLength(16 * 1024 * 1024)
})
