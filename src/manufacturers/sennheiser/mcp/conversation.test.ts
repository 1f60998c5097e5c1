import { expect, test } from 'vitest'
import { startConversation } from './conversation.ts'

const cycle = 'RF 50 1 1\rAF 40 65 0\rBat 70\rMsg OK\rConfig 4\r'
const configuration = 'Name LEAD\rFrequency 606200 1 3\rMute 0\r'

test('asks until it is answered, and then every eight seconds, for firmware that forgets', () => {
  const conversation = startConversation('10.0.0.7', '10.0.0.7')
  expect(conversation.turn(0)).toEqual(['Push 60 500 3\r', 'FirmwareRevision\r'])
  expect(conversation.turn(2000)).toEqual([])
  expect(conversation.turn(2500)).toHaveLength(2)
  conversation.hear(`${configuration}${cycle}`, 2600)
  conversation.hear('FirmwareRevision 1.7.0\r', 2700)
  expect(conversation.isComplete).toBe(true)
  expect(conversation.turn(5000)).toEqual(['Push 60 500 3\r'])
  expect(conversation.nextTurnAt).toBe(13_000)
  expect(conversation.farewell()).toEqual(['Push 0 0 0\r'])
})

test('a configuration that changed is asked for, in case its telling was lost', () => {
  const conversation = startConversation('10.0.0.7', null)
  conversation.turn(0)
  conversation.hear(`${configuration}${cycle}`, 100)
  conversation.turn(2500)
  conversation.hear('Config 5\r', 4000)
  expect(conversation.turn(4000)).toContain('Push 60 500 3\r')
  conversation.hear('Config 6\r', 4100)
  expect(conversation.turn(4100)).toEqual([])
  expect(conversation.nextTurnAt).toBe(5000)
})

test('nothing is observed before a cycle was heard', () => {
  const conversation = startConversation('10.0.0.7', null)
  conversation.hear(configuration, 0)
  expect(conversation.observe()).toBeNull()
  conversation.hear(cycle, 500)
  expect(conversation.observe()).toMatchObject({ name: 'LEAD', channels: [{ frequency: '606.200', rf_level: -87 }] })
})

test('refusals and nonsense are named', () => {
  const conversation = startConversation('10.0.0.7', null)
  expect(conversation.hear('1020: Value out of range [ Push 60 500 3 ] \r', 0)).toMatch(/1020 Value out of range/)
  expect(conversation.hear('HELO\r', 0)).toMatch(/means nothing/)
  expect(conversation.hear('Push 60 500 3\r', 0)).toBeNull()
})
