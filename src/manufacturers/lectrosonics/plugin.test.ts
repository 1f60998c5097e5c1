import { describeConversation } from '../../../test/conversation-kit.ts'
import { serveLines } from '../../../test/plugin-kit-server.ts'
import { dsqd } from './dsqd.ts'
import { lectrosonics } from './index.ts'
import { startLectrosonicsSimulator } from './simulator.ts'

describeConversation({
  plugin: lectrosonics,
  form: dsqd,
  startSimulator: startLectrosonicsSimulator,
  fixtures: new URL('./fixtures/', import.meta.url),
  serveFixture: ({ answers }) => serveLines({ answers, questionEnd: '\r', answerEnd: '\r\n', otherwise: 'ERROR' }),
  idOf: ({ serial_number }) => `dsqd:${serial_number}`,
  middle: /chstat/,
})
