/** Checks messages against the contract. Loaded only during development. */

import { Errors } from 'typebox/schema'
import { LiveServerMessage } from '../../src/contract/live-messages.ts'

/** Reports a message that does not match the contract to the console. */
export function validateMessage(message: unknown): void {
  const [isValid, errors] = Errors(LiveServerMessage, message)
  if (!isValid) console.error('A message does not match the contract.', message, errors)
}
