/** Runs a seccomp filter the way the kernel does, for architectures this machine does not have. */

export interface Call {
  readonly auditArchitecture: number;
  readonly number: number;
  readonly arguments?: readonly (number | bigint)[];
}

export type Verdict = 'allow' | 'kill' | { readonly errno: number };

/** Answers as the filter would; throws on what the kernel would have refused to load. */
export function judge(filter: Buffer, call: Call): Verdict {
  const data = seccompData(call);
  let accumulator = 0;
  let position = 0;
  for (;;) {
    if (position * 8 >= filter.length) throw new Error(`filter runs off its end at ${position}`);
    const code = filter.readUInt16LE(position * 8);
    const yes = filter.readUInt8(position * 8 + 2);
    const no = filter.readUInt8(position * 8 + 3);
    const k = filter.readUInt32LE(position * 8 + 4);
    position += 1;
    switch (code) {
      case 0x20:
        accumulator = data.readUInt32LE(k);
        break;
      case 0x54:
        accumulator = (accumulator & k) >>> 0;
        break;
      case 0x05:
        position += k;
        break;
      case 0x15:
        position += accumulator === k ? yes : no;
        break;
      case 0x35:
        position += accumulator >= k ? yes : no;
        break;
      case 0x45:
        position += (accumulator & k) !== 0 ? yes : no;
        break;
      case 0x06:
        return verdict(k);
      default:
        throw new Error(`unknown instruction ${code.toString(16)} at ${position - 1}`);
    }
  }
}

/** Every jump target of the program, as instruction indexes. */
export function jumpTargets(filter: Buffer): number[] {
  const targets: number[] = [];
  for (let position = 0; position * 8 < filter.length; position += 1) {
    const code = filter.readUInt16LE(position * 8);
    if ((code & 0x07) !== 0x05) continue;
    if (code === 0x05) targets.push(position + 1 + filter.readUInt32LE(position * 8 + 4));
    else
      targets.push(
        position + 1 + filter.readUInt8(position * 8 + 2),
        position + 1 + filter.readUInt8(position * 8 + 3),
      );
  }
  return targets;
}

function seccompData(call: Call): Buffer {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call.number >>> 0, 0);
  data.writeUInt32LE(call.auditArchitecture, 4);
  (call.arguments ?? []).forEach((argument, index) => {
    data.writeBigUInt64LE(BigInt.asUintN(64, BigInt(argument)), 16 + 8 * index);
  });
  return data;
}

function verdict(value: number): Verdict {
  if (value === 0x7fff0000) return 'allow';
  if (value === 0x80000000) return 'kill';
  if ((value & 0xffff0000) >>> 0 === 0x00050000) return { errno: value & 0xffff };
  throw new Error(`unknown answer ${value.toString(16)}`);
}
