/** Programs and scripts that have no honest use in the work of an agent, by their usual names. */
const names =
  /^\.?(?:exploit|rootkit|backdoor|bindshell|keylogger|rev(?:erse)?[-_]?shell|meterpreter|ransom\w*|botnet|xmr(?:ig|-stak)[\w.-]*|\w*miner(?:d|-\w+)?|linpeas|linenum|linux-exploit-suggester|mimipenguin|lazagne|pwnkit|dirty(?:cow|pipe)|les|deepce|pspy(?:32|64)s?|traitor|kerbrute|rubeus|bloodhound\w*|secretsdump|impacket-\w+|chisel|ligolo\w*|sliver\w*|merlin|empire|cobaltstrike|teamserver|responder|hoaxshell|villain|pwncat\w*|weevely|slowloris|hping3|t50|loic|hulk|mhddos|torshammer|goldeneye|xerxes|diamorphine|reptile|evilginx\d?|setoolkit|beef|wifite|reaver|snmpwalk-brute|crunch)(?:\.(?:sh|py|pl|rb|elf|bin|out|ko|exe|ps1))?$/i;

export function isAttackTool(name: string): boolean {
  return names.test(name);
}
