import { expect, test } from 'vitest'
import { createMcpSession } from './session.ts'

const endpoint = { host: '10.0.0.7', ip: '10.0.0.7', name: null }

const cycle = 'RF 50 1 1\rAF 40 65 0\rBat 70\rMsg OK\rConfig 4\r'
const configuration = 'Name LEAD\rFrequency 606200 1 3\rMute 0\r'

test('repeats requests until the first response, then renews every eight seconds', () => {
  const session = createMcpSession(endpoint)
  expect(session.takeDueMessages(0)).toEqual(['Push 20 500 3\r', 'FirmwareRevision\r'])
  expect(session.takeDueMessages(2000)).toEqual([])
  expect(session.takeDueMessages(2500)).toHaveLength(2)
  session.receive(`${configuration}${cycle}`, 2600)
  session.receive('FirmwareRevision 1.7.0\r', 2700)
  expect(session.isComplete).toBe(true)
  session.receive(cycle, 4900)
  expect(session.takeDueMessages(5000)).toEqual(['Push 20 500 3\r'])
  expect(session.takeDueMessages(7000)).toEqual([])
  session.receive(cycle, 12_900)
  expect(session.nextSendAt).toBe(13_000)
  expect(session.createUnsubscribeMessage()).toBe('Push 0 0 0\r')
})

test('renews once when the levels stop, before they count as lost', () => {
  const session = createMcpSession(endpoint)
  session.takeDueMessages(0)
  session.receive(`${configuration}${cycle}`, 2500)
  session.takeDueMessages(2500)
  session.receive(cycle, 3000)
  expect(session.nextSendAt).toBe(5500)
  session.receive('Mute 1\r', 5400)
  expect(session.takeDueMessages(5500)).toEqual(expect.arrayContaining(['Push 20 500 3\r']))
  expect(session.takeDueMessages(8400)).toEqual([])
  expect(session.nextSendAt).toBe(13_500)
})

test('requests the configuration again when its index changes', () => {
  const session = createMcpSession(endpoint)
  session.takeDueMessages(0)
  session.receive(`${configuration}${cycle}`, 100)
  session.takeDueMessages(2500)
  session.receive('Config 5\r', 4000)
  expect(session.takeDueMessages(4000)).toContain('Push 20 500 3\r')
  session.receive('Config 6\r', 4100)
  expect(session.takeDueMessages(4100)).toEqual([])
  expect(session.nextSendAt).toBe(5000)
})

test('reports nothing before the first cycle', () => {
  const session = createMcpSession(endpoint)
  session.receive(configuration, 0)
  expect(session.getReport()).toBeNull()
  session.receive(cycle, 500)
  expect(session.getReport()).toMatchObject({ name: 'LEAD', channels: [{ frequency: '606.200', rf_level: -87 }] })
})

test('returns the reason for rejected commands and unparsable lines', () => {
  const session = createMcpSession(endpoint)
  expect(session.receive('1020: Value out of range [ Push 60 500 3 ] \r', 0)).toMatch(/1020 Value out of range/)
  expect(session.rejection).toBe('the device rejects the subscription (1020 Value out of range)')
  expect(session.receive('HELO\r', 0)).toMatch(/could not be parsed/)
  expect(session.receive('Push 60 500 3\r', 0)).toBeNull()
})

test('names the commands that the device refuses, and the lines of another form, until they are accepted', () => {
  const session = createMcpSession(endpoint)
  expect(session.problems).toEqual([])
  session.receive('1000: Invalid command [ FirmwareRevision ] \r', 0)
  session.receive(`${configuration}${cycle}`, 10)
  session.receive('RF high 1 1\rRF1 1\rAF 40 65 0\rHELO 1\r', 20)
  const { problems } = session
  const clauses = [
    'the device refuses FirmwareRevision (1000 Invalid command)',
    'the device reports RF, RF* in an undocumented form',
  ]
  const problem = `${clauses.join(', and ')}, so these values are unknown`
  expect(problems).toEqual([{ subject: '10.0.0.7', problem }])
  session.receive('RF high 1 1\r', 30)
  expect(session.problems).toBe(problems)
  session.receive('RF 40 1 1\rRF1 1 2 1\rFirmwareRevision 1.7.0\r', 40)
  expect(session.problems).toEqual([])
})
