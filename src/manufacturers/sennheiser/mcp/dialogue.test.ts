import { expect, test } from 'vitest'
import { startDialogue } from './dialogue.ts'

const partner = { host: '10.0.0.7', ip: '10.0.0.7', name: null }

const cycle = 'RF 50 1 1\rAF 40 65 0\rBat 70\rMsg OK\rConfig 4\r'
const configuration = 'Name LEAD\rFrequency 606200 1 3\rMute 0\r'

test('asks until it is answered, and then every eight seconds, for firmware that forgets', () => {
  const dialogue = startDialogue(partner)
  expect(dialogue.turn(0)).toEqual(['Push 20 500 3\r', 'FirmwareRevision\r'])
  expect(dialogue.turn(2000)).toEqual([])
  expect(dialogue.turn(2500)).toHaveLength(2)
  dialogue.hear(`${configuration}${cycle}`, 2600)
  dialogue.hear('FirmwareRevision 1.7.0\r', 2700)
  expect(dialogue.isComplete).toBe(true)
  expect(dialogue.turn(5000)).toEqual(['Push 20 500 3\r'])
  expect(dialogue.nextTurnAt).toBe(13_000)
  expect(dialogue.farewell()).toBe('Push 0 0 0\r')
})

test('a configuration that changed is asked for, in case its telling was lost', () => {
  const dialogue = startDialogue(partner)
  dialogue.turn(0)
  dialogue.hear(`${configuration}${cycle}`, 100)
  dialogue.turn(2500)
  dialogue.hear('Config 5\r', 4000)
  expect(dialogue.turn(4000)).toContain('Push 20 500 3\r')
  dialogue.hear('Config 6\r', 4100)
  expect(dialogue.turn(4100)).toEqual([])
  expect(dialogue.nextTurnAt).toBe(5000)
})

test('nothing is observed before a cycle was heard', () => {
  const dialogue = startDialogue(partner)
  dialogue.hear(configuration, 0)
  expect(dialogue.observe()).toBeNull()
  dialogue.hear(cycle, 500)
  expect(dialogue.observe()).toMatchObject({ name: 'LEAD', channels: [{ frequency: '606.200', rf_level: -87 }] })
})

test('refusals and nonsense are named', () => {
  const dialogue = startDialogue(partner)
  expect(dialogue.hear('1020: Value out of range [ Push 60 500 3 ] \r', 0)).toMatch(/1020 Value out of range/)
  expect(dialogue.hear('HELO\r', 0)).toMatch(/means nothing/)
  expect(dialogue.hear('Push 60 500 3\r', 0)).toBeNull()
})
