import { fstatSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createLog, RepeatLimiter } from './log.ts'

function startLog(log_format: 'json' | 'text', env: Readonly<Record<string, string>> = {}) {
  const lines: string[] = []
  const log = createLog({ env, err: (text) => void lines.push(text) }, { log: null, log_format }, 'info')
  return { log, lines }
}

// Conformance: C-26.5.
describe('the log', () => {
  it('is one JSON document per line', () => {
    const { log, lines } = startLog('json')
    log.warn({ source: 'shure:a' }, 'cannot be read')
    log.debug('not written')
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ level: 40, source: 'shure:a', msg: 'cannot be read', time: expect.any(Number) }),
    ])
  })

  it('is text with log_format: text, with the stack of an error', () => {
    const { log, lines } = startLog('text')
    log.warn({ source: 'shure:a' }, 'cannot be read')
    log.error({ err: new Error('broken') }, 'request failed')
    expect(lines[0]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z WARN {2}cannot be read source="shure:a"$/)
    expect(lines[1]).toMatch(/ ERROR request failed$/)
    expect(lines[2]).toBe('Error: broken')
    expect(lines[3]).toContain('log.test.ts')
  })

  it('has priorities in the systemd journal, and only there', () => {
    const { dev, ino } = fstatSync(2)
    const { log, lines } = startLog('text', { JOURNAL_STREAM: `${dev}:${ino}` })
    log.info('started')
    log.error({ err: new Error('broken') }, 'request failed')
    expect(lines.map((line) => line.slice(0, 3))).toEqual(['<6>', ...lines.slice(1).map(() => '<3>')])
    const elsewhere = startLog('json', { JOURNAL_STREAM: `${dev}:${ino + 1}` })
    elsewhere.log.info('started')
    expect(elsewhere.lines[0]).toMatch(/^\{/)
  })

  it('writes three lines about one cause, whichever part reports it, and every line about others', () => {
    const { log, lines } = startLog('json')
    const error = 'Error: connect ECONNREFUSED 127.0.0.1:5432'
    for (let count = 0; count < 50; count++) {
      log.error({ error }, 'leases could not be read')
      log.warn({ source: `shure:${count}`, error }, 'the cycle could not be stored')
      log.warn({ source: `shure:${count}` }, 'cannot be read')
      log.info({ connection: count }, 'connected')
    }
    log.fatal({ error }, 'shutting down')
    const about = (text: string) => lines.filter((line) => line.includes(text)).length
    // The end of the process is always written.
    expect([about('5432'), about('shutting down')]).toEqual([4, 1])
    expect(about('cannot be read')).toBe(50)
    expect(about('"connected"')).toBe(50)
  })
})

// Conformance: C-26.4.
describe('a repeating cause', () => {
  it('is written once a minute after the first three, with the number of lines between', () => {
    const limiter = new RepeatLimiter()
    const written: [number, number][] = []
    for (let second = 0; second < 300; second++) {
      const leftOut = limiter.admit('database', 1000 * second)
      if (leftOut !== null) written.push([second, leftOut])
    }
    expect(written).toEqual([
      [0, 0],
      [1, 0],
      [2, 0],
      [62, 59],
      [122, 59],
      [182, 59],
      [242, 59],
    ])
  })

  it('is new after a minute without a line', () => {
    const limiter = new RepeatLimiter()
    for (const time of [0, 1, 2, 3]) limiter.admit('database', time)
    expect(limiter.admit('database', 60_003)).toBe(1)
    expect([60_004, 60_005, 60_006].map((time) => limiter.admit('database', time))).toEqual([0, 0, null])
    expect(limiter.admit('other', 60_007)).toBe(0)
  })
})
