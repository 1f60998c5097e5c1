/**
 * Hosts the module as Companion does. Implements the published host interface of `@companion-module/base`
 * (`@companion-module/base/host-api`), and runs actions and feedbacks with their resolved options. Rejects everything
 * that Companion would drop, such as values of undefined variables.
 */

import assert from 'node:assert/strict'
import type {
  CompanionActionDefinition,
  CompanionActionDefinitions,
  CompanionFeedbackDefinitions,
  CompanionFeedbackInfo,
  CompanionOptionValues,
  CompanionPresetDefinitions,
  CompanionPresetSection,
  CompanionVariableDefinitions,
  CompanionVariableValue,
  InstanceBase,
  InstanceConstructor,
  InstanceStatus,
  InstanceTypes,
  JsonValue,
} from '@companion-module/base'
import { type InstanceContext, isInstanceContext } from '@companion-module/base/host-api'
import { until } from './until.ts'

const variableId = /^[a-zA-Z0-9-_.]+$/

interface PlacedFeedback {
  readonly feedbackId: string
  readonly options: CompanionOptionValues
  value: JsonValue
}

/** Values that the module set in one call. */
interface ValueUpdate {
  readonly at: number
  readonly values: Readonly<Record<string, CompanionVariableValue>>
}

export class TestHost implements InstanceContext<InstanceTypes> {
  readonly _isInstanceContext = true
  readonly id = 'connection-1'
  label = 'mics'
  readonly upgradeScripts = []
  readonly sharedUdpSocketHandlers = new Map()

  readonly statuses: { readonly status: InstanceStatus; readonly message: string | null }[] = []
  readonly updates: ValueUpdate[] = []
  readonly values = new Map<string, CompanionVariableValue>()
  variables: CompanionVariableDefinitions = {}
  sections: CompanionPresetSection[] = []
  presets: CompanionPresetDefinitions = {}
  #actions: CompanionActionDefinitions = {}
  #feedbacks: CompanionFeedbackDefinitions = {}
  readonly #placed = new Map<string, PlacedFeedback>()
  readonly #instance: InstanceBase
  /** How often each placed feedback was executed. */
  readonly executions = new Map<string, number>()

  constructor(Module: InstanceConstructor) {
    assert.ok(isInstanceContext(this))
    this.#instance = new Module(this)
  }

  init(config: object, secrets: object = {}): Promise<void> {
    return this.#instance.init({ ...config }, true, { ...secrets })
  }

  configUpdated(config: object, secrets: object = {}): Promise<void> {
    return this.#instance.configUpdated({ ...config }, { ...secrets })
  }

  destroy(): Promise<void> {
    return this.#instance.destroy()
  }

  configFieldIds(): string[] {
    return this.#instance.getConfigFields().map(({ id }) => id)
  }

  // --- What a user does ------------------------------------------------------------------------------------------------

  async press(actionId: string, options: CompanionOptionValues): Promise<void> {
    const action = this.action(actionId)
    assertOptions(action.options, options)
    await action.callback(
      { id: 'a', controlId: 'c', actionId, options, surfaceId: undefined },
      { type: 'action', setCustomVariableValue() {} },
    )
  }

  /** Adds a feedback to a button. Returns a function that returns its value. */
  async place(feedbackId: string, options: CompanionOptionValues = {}): Promise<() => JsonValue> {
    const id = `feedback-${this.#placed.size}`
    const placed: PlacedFeedback = { feedbackId, options, value: null }
    this.#placed.set(id, placed)
    await this.#execute(id)
    return () => placed.value
  }

  action(actionId: string): CompanionActionDefinition {
    const action = this.#actions[actionId]
    assert.ok(action, `There is no action ${actionId}.`)
    return action
  }

  feedback(feedbackId: string) {
    const feedback = this.#feedbacks[feedbackId]
    assert.ok(feedback, `There is no feedback ${feedbackId}.`)
    return feedback
  }

  // --- What tests wait for ---------------------------------------------------------------------------------------------

  status() {
    return this.statuses.at(-1)
  }

  statusIs(status: InstanceStatus, timeoutMs?: number): Promise<unknown> {
    return until(`the status is ${status}`, () => this.status()?.status === status, timeoutMs)
  }

  valueIs(id: string, expected: CompanionVariableValue, timeoutMs?: number): Promise<unknown> {
    return until(
      `${id} is ${expected}`,
      () => this.values.get(id) === expected || `${JSON.stringify(this.values.get(id))}`,
      timeoutMs,
    )
  }

  // --- The host interface ----------------------------------------------------------------------------------------------

  updateStatus(status: InstanceStatus, message: string | null): void {
    this.statuses.push({ status, message })
  }

  setActionDefinitions(actions: CompanionActionDefinitions): void {
    this.#actions = actions
  }

  setFeedbackDefinitions(feedbacks: CompanionFeedbackDefinitions): void {
    this.#feedbacks = feedbacks
  }

  /** Deletes the values of variables that are no longer defined. */
  setVariableDefinitions(variables: CompanionVariableDefinitions): void {
    for (const id of Object.keys(variables)) assert.match(id, variableId)
    this.variables = variables
    for (const id of this.values.keys()) if (!(id in variables)) this.values.delete(id)
  }

  setVariableValues(values: Record<string, CompanionVariableValue>): void {
    for (const [id, value] of Object.entries(values)) {
      assert.ok(id in this.variables, `The variable ${id} is not defined.`)
      assert.deepEqual(value === undefined ? undefined : JSON.parse(JSON.stringify(value)), value)
      this.values.set(id, value)
    }
    this.updates.push({ at: performance.now(), values })
  }

  getVariableValue(id: string): CompanionVariableValue {
    return this.values.get(id)
  }

  setPresetDefinitions(sections: CompanionPresetSection[], presets: CompanionPresetDefinitions): void {
    this.sections = sections
    this.presets = presets
  }

  checkFeedbacksById(ids: string[]): void {
    for (const id of ids) void this.#execute(id)
  }

  checkFeedbacks(types: string[]): void {
    for (const [id, { feedbackId }] of this.#placed) if (types.includes(feedbackId)) void this.#execute(id)
  }

  checkAllFeedbacks(): void {
    for (const id of this.#placed.keys()) void this.#execute(id)
  }

  saveConfig(): void {}
  oscSend(): void {}
  recordAction(): void {}
  subscribeActions(): void {}
  unsubscribeActions(): void {}
  unsubscribeFeedbacks(): void {}
  sharedUdpSocketJoin = () => Promise.reject(new Error('not supported'))
  sharedUdpSocketLeave = () => Promise.reject(new Error('not supported'))
  sharedUdpSocketSend = () => Promise.reject(new Error('not supported'))

  async #execute(id: string): Promise<void> {
    const placed = this.#placed.get(id)
    assert.ok(placed, `There is no feedback ${id} on a button.`)
    const feedback = this.feedback(placed.feedbackId)
    assertOptions(feedback.options, placed.options)
    this.executions.set(id, (this.executions.get(id) ?? 0) + 1)
    const info: CompanionFeedbackInfo = {
      type: feedback.type,
      id,
      controlId: `control-${id}`,
      feedbackId: placed.feedbackId,
      options: placed.options,
      previousOptions: null,
    }
    const value = await feedback.callback({ ...info, image: { width: 72, height: 72 } }, { type: 'feedback' })
    placed.value = JSON.parse(JSON.stringify(value))
  }
}

function assertOptions(fields: readonly { readonly id: string }[], options: object): void {
  assert.deepEqual(fields.map(({ id }) => id).sort(), Object.keys(options).sort())
}

/** Checks that every preset refers only to what exists, with all options. Returns the ids of all listed presets. */
export function checkPresets(host: TestHost): string[] {
  for (const [id, preset] of Object.entries(host.presets)) {
    assert.ok(preset, id)
    const actions = preset.steps.flatMap((step) =>
      Object.entries(step).flatMap(([key, set]) =>
        key === 'name' || typeof set === 'string' ? [] : Array.isArray(set) ? set : set.actions,
      ),
    )
    for (const { actionId, options } of actions) assertOptions(host.action(String(actionId)).options, options)
    for (const { feedbackId, options } of preset.feedbacks)
      assertOptions(host.feedback(String(feedbackId)).options, options)
    for (const [, name = ''] of preset.style.text.matchAll(/\$\(micwatch:([^)]*)\)/g))
      assert.ok(name in host.variables, name)
  }
  const listed = host.sections.flatMap(({ definitions }) =>
    definitions.flatMap((one) =>
      typeof one === 'string' ? [one] : one.type === 'simple' ? one.presets : [one.presetId],
    ),
  )
  for (const id of listed) assert.ok(id in host.presets, id)
  assert.deepEqual(
    Object.keys(host.presets).filter((id) => !listed.includes(id)),
    [],
  )
  return listed
}
