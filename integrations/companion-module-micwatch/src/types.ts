/** The types of this module's configuration, actions, feedbacks and variables, for Companion's base class. */

import type { Actions } from './actions.ts'
import type { Config, Secrets } from './config.ts'
import type { Feedbacks } from './feedbacks.ts'
import type { Values } from './variables.ts'

export type MicwatchTypes = {
  config: Config
  secrets: Secrets
  actions: Actions
  feedbacks: Feedbacks
  variables: Values
}
