import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { createOutput, escapeControls } from './output.ts'

// Reliability: P9.
test('drops and counts writes while the buffer is full', () => {
  const stream = new PassThrough({ highWaterMark: 0 })
  const output = createOutput(stream, 100)
  const line = `${'x'.repeat(49)}\n`
  for (let i = 0; i < 10; i += 1) output.write(line)
  expect(output.dropped).toBeGreaterThan(5)
  const { dropped } = output
  stream.resume()
  return new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
    output.write(line)
    expect(output.dropped).toBe(dropped)
  })
})

test('writes all of a text that is longer than the buffer', () => {
  const stream = new PassThrough()
  const output = createOutput(stream, 10)
  output.write('x'.repeat(1000))
  expect([output.dropped, stream.read().length]).toEqual([0, 1000])
})

test('drops and counts writes after the stream has ended', () => {
  const stream = new PassThrough()
  const output = createOutput(stream, 1000)
  stream.destroy(new Error('reader has closed the pipe'))
  output.write('lost')
  expect(output.dropped).toBe(1)
})

// Conformance: C-9.26.
test('escapes C0, DEL, C1 and bidirectional overrides, but not line breaks', () => {
  expect(escapeControls('a\nb\t\u001b[2J\r\u007f\u009b2J\u061c\u200e\u202e\u2069 ö🎤')).toBe(
    'a\nb\\u0009\\u001b[2J\\u000d\\u007f\\u009b2J\\u061c\\u200e\\u202e\\u2069 ö🎤',
  )
  const name = 'Rack\u009b2J\u202e'
  expect(JSON.parse(escapeControls(JSON.stringify({ name })))).toEqual({ name })
})

test('waits until the reader takes a text, and stops when the reader closes the pipe', async () => {
  const stream = new PassThrough({ highWaterMark: 10 })
  const output = createOutput(stream, 10)
  let isTaken = false
  const written = output.writeAndWait('x'.repeat(100)).then((isOpen) => {
    isTaken = true
    return isOpen
  })
  await new Promise((resolve) => setImmediate(resolve))
  expect(isTaken).toBe(false)
  stream.read()
  expect(await written).toBe(true)
  const next = output.writeAndWait('y'.repeat(100))
  stream.destroy(new Error('reader has closed the pipe'))
  expect([await next, await output.writeAndWait('lost')]).toEqual([false, false])
  expect(output.dropped).toBe(0)
})
