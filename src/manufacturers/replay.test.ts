/** Replays of captures that were edited. */

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { countResources, minResources, until } from '../../test/support/plugins/plugin-kit-resources.ts'
import type { Capture } from '../upstream/capture/capture-file.ts'
import { parseCapture, replayCapture } from './replay.ts'

const read = (name: string) =>
  parseCapture(readFileSync(new URL(`../../test/captures/${name}`, import.meta.url), 'utf8'))
const overTcp = read('ulx-d.jsonl')
const overUdp = read('em-300-g3.jsonl')

function edit({ header, lines, end }: Capture, change: Partial<Capture['header']>): Capture {
  return { header: { ...header, ...change }, lines, end }
}

// Conformance: C-24.67.
describe('replayCapture', () => {
  it.each([
    ['an invalid address', edit(overTcp, { address: 'nonsense' }), /^line 1: address: /],
    ['an address of another protocol', edit(overTcp, { address: 'mcp://192.0.2.7' }), /^line 1: address: /],
    ['an unknown manufacturer', edit(overTcp, { plugin: '__proto__' }), /^line 1: plugin: /],
    ['an unknown protocol', edit(overTcp, { protocol: 'constructor' }), /^line 1: protocol: /],
    ['lines of another transport', { ...overUdp, header: overTcp.header }, /^line 2: transport: expected tcp$/],
  ])('refuses %s, and leaves no open socket', async (_, capture, message) => {
    const before = await minResources()
    await expect(replayCapture(capture)).rejects.toThrow(message)
    await until(() => countResources() <= before, 'no open socket')
  })

  it('compares a report whose channels have no numbers', async () => {
    const channel = { toString: 1, valueOf: 1 } as unknown as number
    const lines = overUdp.lines.map((line) =>
      'report' in line ? { ...line, report: { ...line.report, channels: [{ channel }] } } : line,
    )
    const { error, differences } = await replayCapture({ ...overUdp, lines })
    expect(error).toBeNull()
    expect(differences.map(({ path }) => path)).toContain('mcp:192.0.2.7.channels.0.channel.toString')
  })
})
