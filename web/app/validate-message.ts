import { Errors } from 'typebox/schema'
import { LiveServerMessage } from '../../src/contract/live-messages.ts'

export function validateMessage(message: unknown): void {
  const [isValid, errors] = Errors(LiveServerMessage, message)
  if (!isValid) console.error('A message does not match the contract.', message, errors)
}
