/** All detectors of one channel. */

import { type AudioBlock, type AudioFrame, FrameSplitter } from './audio-frame.ts'
import { ClickDetector } from './clicks.ts'
import { ClippingDetector } from './clipping.ts'
import { DcDetector } from './dc.ts'
import { DropoutDetector } from './dropout.ts'
import type { AudioFinding, Detector } from './finding.ts'
import { HumDetector } from './hum.ts'
import { NoiseDetector } from './noise.ts'
import { SilenceDetector } from './silence.ts'

export class ChannelDetectors {
  readonly #frames = new FrameSplitter()
  #detectors: readonly Detector[] = []
  /** Findings that have begun and not ended. */
  readonly #open = new Map<AudioFinding['kind'], AudioFinding>()
  #endedAt = 0

  /** Returns what has begun or ended. A gap between blocks ends everything. */
  add(block: AudioBlock): readonly AudioFinding[] {
    const findings: AudioFinding[] = []
    const note = (finding: AudioFinding | null) => {
      if (finding === null) return
      findings.push(finding)
      if (finding.until === null) this.#open.set(finding.kind, finding)
      else this.#open.delete(finding.kind)
    }
    const startAgain = () => {
      for (const finding of this.#open.values()) findings.push({ ...finding, until: this.#endedAt })
      this.#open.clear()
      this.#detectors = createDetectors()
    }
    this.#frames.split(block, startAgain, (frame: AudioFrame) => {
      for (const detector of this.#detectors) note(detector.add(frame))
      this.#endedAt = frame.at
    })
    return findings
  }
}

function createDetectors(): Detector[] {
  return [
    new DropoutDetector(),
    new ClippingDetector(),
    new SilenceDetector(),
    new HumDetector(),
    new NoiseDetector(),
    new ClickDetector(),
    new DcDetector(),
  ]
}
