/** The messages between the service and the thread that checks and suggests frequencies. */

import type { Carrier } from './carrier.ts'
import type { CheckOptions } from './check.ts'
import type { CheckResult } from './conflict.ts'
import type { Suggestion, SuggestRequest } from './suggest.ts'

export type FrequencyTask =
  | { readonly type: 'check'; readonly carriers: readonly Carrier[]; readonly options: CheckOptions }
  | { readonly type: 'suggest'; readonly request: SuggestRequest; readonly timeoutMs: number }

export type FrequencyTaskResult =
  | { readonly ok: true; readonly value: CheckResult | Suggestion }
  | { readonly ok: false; readonly error: string }
