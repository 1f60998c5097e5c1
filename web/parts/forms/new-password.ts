/** Applies the service's password rules before a request is sent. */

import { passwordProblem } from '../../../src/domain/access/password.ts'
import type { Problem } from '../../app/api.ts'
import { toSentence } from '../../app/format.ts'

export function newPasswordProblem(values: FormData, field: string, username: string): Problem | null {
  const says = passwordProblem(String(values.get(field) ?? ''), username)
  return says === null ? null : { kind: 'refused', field, detail: toSentence(says) }
}
