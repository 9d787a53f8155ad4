// SPDX-License-Identifier: Apache-2.0
// A receiver for SoapySDR that is none: it plays a .cu8 at its rate, and then sends nothing more.
// `driver=recording,path=FILE`; `fails=N`: after N samples it fails.
#include <SoapySDR/Device.hpp>
#include <SoapySDR/Errors.h>
#include <SoapySDR/Formats.hpp>
#include <SoapySDR/Registry.hpp>
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;

class Recording : public SoapySDR::Device {
public:
    explicit Recording(const SoapySDR::Kwargs &args)
    {
        std::ifstream file(args.at("path"), std::ios::binary);
        if (!file)
            throw std::runtime_error("no such recording");
        samples_.assign(std::istreambuf_iterator<char>(file), {});
        fails_ = args.count("fails") ? std::stoul(args.at("fails")) : SIZE_MAX;
    }

    std::string getDriverKey() const override { return "recording"; }
    size_t getNumChannels(int) const override { return 1; }
    void setSampleRate(int, size_t, double rate) override { rate_ = std::min(rate, 3.2e6); }
    double getSampleRate(int, size_t) const override { return rate_; }
    void setFrequency(int, size_t, double hz, const SoapySDR::Kwargs &) override { hz_ = hz; }
    bool hasGainMode(int, size_t) const override { return true; }
    void setGainMode(int, size_t, bool) override {}
    void setGain(int, size_t, double) override {}

    SoapySDR::Stream *setupStream(int, const std::string &format, const std::vector<size_t> &,
                                  const SoapySDR::Kwargs &) override
    {
        if (format != SOAPY_SDR_CF32 || hz_ != 100e6 - 4000)
            throw std::runtime_error("it was not tuned as it should be");
        return reinterpret_cast<SoapySDR::Stream *>(this);
    }
    void closeStream(SoapySDR::Stream *) override {}
    int activateStream(SoapySDR::Stream *, int, long long, size_t) override
    {
        start_ = Clock::now();
        return 0;
    }
    int deactivateStream(SoapySDR::Stream *, int, long long) override { return 0; }

    int readStream(SoapySDR::Stream *, void *const *buffers, size_t most, int &, long long &,
                   long wait_us) override
    {
        const auto pause = std::chrono::microseconds(wait_us);
        auto *pairs = static_cast<float *>(buffers[0]);
        const size_t n = std::min({ most, samples_.size() / 2 - at_, size_t(rate_ / 100) });

        if (at_ >= fails_)
            return SOAPY_SDR_STREAM_ERROR;
        if (n == 0) {
            std::this_thread::sleep_for(pause);
            return SOAPY_SDR_TIMEOUT;
        }
        std::this_thread::sleep_until(start_ + std::chrono::duration<double>(at_ / rate_));
        for (size_t i = 0; i < 2 * n; i++)
            pairs[i] = (float(uint8_t(samples_[2 * at_ + i])) - 127.5f) / 127.5f;
        at_ += n;
        return int(n);
    }

private:
    std::vector<char> samples_;
    size_t at_ = 0, fails_;
    double rate_ = 0, hz_ = 0;
    Clock::time_point start_;
};

static SoapySDR::KwargsList find(const SoapySDR::Kwargs &args)
{
    return args.count("path") ? SoapySDR::KwargsList{ args } : SoapySDR::KwargsList{};
}

static SoapySDR::Device *make(const SoapySDR::Kwargs &args)
{
    return new Recording(args);
}

static SoapySDR::Registry registered("recording", find, make, SOAPY_SDR_ABI_VERSION);
