/** The module instance: one connection of Companion to one Micwatch. */

import { InstanceBase, InstanceStatus, type SomeCompanionConfigField } from '@companion-module/base'
import { type ActionDeps, actionDefinitions } from './actions.ts'
import { MicwatchApi } from './api.ts'
import { type Config, configFields, readSettings, type Secrets, type Settings } from './config.ts'
import { FeedbackUses, feedbackDefinitions } from './feedbacks.ts'
import { findGroup } from './groups.ts'
import { type ConnectionState, LiveConnection } from './live-connection.ts'
import { applyMessage, createLiveState, type LiveState } from './live-state.ts'
import { createPresets } from './presets.ts'
import { Publisher, type PublishTarget } from './publisher.ts'
import type { MicwatchTypes } from './types.ts'
import { createView, emptyView, type View } from './view.ts'

export default class MicwatchInstance extends InstanceBase<MicwatchTypes> {
  readonly #uses = new FeedbackUses()
  readonly #publisher = new Publisher(this.#publishTarget(), () => this.#updateView(), this.#uses)
  #api: MicwatchApi | null = null
  #live: LiveConnection | null = null
  #state: LiveState = createLiveState()
  #isConnected = false
  #view: View = emptyView

  async init(config: Config, _isFirstInit: boolean, secrets: Secrets): Promise<void> {
    const getView = () => this.#view
    const requests: ActionDeps = {
      getView,
      get: (path) => this.#requireApi().get(path),
      post: (path, body) => this.#requireApi().post(path, body),
      put: (path, body) => this.#requireApi().put(path, body),
    }
    this.setActionDefinitions(actionDefinitions(requests))
    this.setFeedbackDefinitions(feedbackDefinitions(getView, this.#uses))
    this.#open(config, secrets)
  }

  async configUpdated(config: Config, secrets: Secrets): Promise<void> {
    await this.destroy()
    this.#open(config, secrets)
  }

  async destroy(): Promise<void> {
    this.#publisher.stop()
    this.#live?.stop()
    await this.#api?.close()
    this.#live = null
    this.#api = null
  }

  getConfigFields(): SomeCompanionConfigField[] {
    return configFields
  }

  #open(config: Config, secrets: Secrets): void {
    const settings = readSettings(config, secrets)
    this.#state = createLiveState()
    this.#isConnected = false
    if (typeof settings === 'string') this.updateStatus(InstanceStatus.BadConfig, settings)
    else this.#connect(settings)
    this.#publisher.publish(true)
  }

  #connect(settings: Settings): void {
    const api = new MicwatchApi(settings)
    this.#api = api
    this.#publisher.levelsIntervalMs = settings.levelsIntervalMs ?? Number.POSITIVE_INFINITY
    this.#live = new LiveConnection({
      settings,
      findGroup: () => findGroup(api, settings.group),
      onMessage: (message) => {
        applyMessage(this.#state, message)
        this.#publisher.schedule()
      },
      onState: (state) => this.#showState(state),
    })
    this.#live.start()
  }

  #showState(state: ConnectionState): void {
    this.#isConnected = state === 'online'
    if (state === 'connecting') this.updateStatus(InstanceStatus.Connecting)
    else if (state === 'online') this.updateStatus(InstanceStatus.Ok)
    else {
      this.updateStatus(state.status, state.message)
      this.log('warn', state.message)
    }
    this.#publisher.publish(true)
  }

  #updateView(): View {
    this.#view = createView(this.#state, this.#isConnected)
    return this.#view
  }

  #publishTarget(): PublishTarget {
    return {
      setVariableDefinitions: (definitions) => this.setVariableDefinitions(definitions),
      setVariableValues: (values) => this.setVariableValues(values),
      checkFeedbacksById: (...ids) => this.checkFeedbacksById(...ids),
      setPresets: (view) => {
        const { sections, presets } = createPresets(view)
        this.setPresetDefinitions(sections, presets)
      },
    }
  }

  #requireApi(): MicwatchApi {
    if (this.#api === null) throw new Error('Enter the address of Micwatch in the configuration of this connection.')
    return this.#api
  }
}

/** Changes of saved buttons between versions of this module; there are none yet. */
export const UpgradeScripts = []
